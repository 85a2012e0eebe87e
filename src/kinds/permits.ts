import { refuseDetached } from '../kit/handle.ts'
import { ExpirablePermits } from '../locks/semaphore/expirable-permits.ts'
import {
  HoldfastPermitExpirableSemaphore,
  type PermitExpirableSemaphore,
} from '../locks/semaphore/permit-expirable-semaphore.ts'
import { limitGiven, type PermitSemaphoreOptions } from '../locks/semaphore/permit-options.ts'
import { PERMITS } from '../servers/permit-server.ts'
import { type KindDescriptor, semaphoreNeedsOneServer } from './kind.ts'

export interface PermitMethods {
  /**
   * Returns a semaphore whose permits have leases. If a process crashes, its permits are available again when their
   * leases end.
   *
   * @param name as for {@link getLock}
   * @param options `permits`: the total number of permits. If no client has set this number, the first acquisition sets
   * it
   * @throws `InvalidArgumentError` for an invalid name or option, and with `masters`, because one server must count the
   * permits
   */
  getPermitExpirableSemaphore(
    name: string,
    options?: PermitSemaphoreOptions,
  ): PermitExpirableSemaphore
}

/** @internal */
export const permits: KindDescriptor<PermitMethods> = {
  names: ['getPermitExpirableSemaphore'],
  requests: PERMITS,
  open({ backend: { registry }, requests, rawName }) {
    const remote = requests(PERMITS)
    const all = remote && new ExpirablePermits(registry, remote)
    const getPermitExpirableSemaphore = (name: string, options?: unknown) => {
      const key = rawName(name, 'semaphore')
      const limit = limitGiven(options)
      if (all === undefined) throw semaphoreNeedsOneServer(name, registry.limits.words)
      return new HoldfastPermitExpirableSemaphore(name, key, all, limit)
    }
    return { methods: { getPermitExpirableSemaphore } }
  },
}

refuseDetached(HoldfastPermitExpirableSemaphore, 'semaphore')
