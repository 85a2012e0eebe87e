import { refuseDetached } from '../kit/handle.ts'
import { HoldfastSemaphore, type Semaphore } from '../locks/semaphore/semaphore.ts'
import { Semaphores } from '../locks/semaphore/semaphores.ts'
import { SEMAPHORE } from '../servers/semaphore-server.ts'
import { assertAlone, type KindDescriptor, semaphoreNeedsOneServer } from './kind.ts'

export interface SemaphoreMethods {
  /**
   * Returns a semaphore whose permits have no owner and no lease.
   *
   * @param name as for {@link getLock}
   * @throws `InvalidArgumentError` as {@link getPermitExpirableSemaphore} does
   */
  getSemaphore(name: string): Semaphore
}

const SETS_PERMITS =
  'trySetPermits() sets the number of permits; getPermitExpirableSemaphore(name, { permits }) takes it as an option.'

/** @internal */
export const semaphore: KindDescriptor<SemaphoreMethods> = {
  names: ['getSemaphore'],
  requests: SEMAPHORE,
  open({ backend: { registry }, requests, rawName }) {
    const remote = requests(SEMAPHORE)
    const all = remote && new Semaphores(registry, remote)
    const getSemaphore = (name: string, ...others: unknown[]) => {
      const key = rawName(name, 'semaphore')
      assertAlone('getSemaphore', others, SETS_PERMITS)
      if (all === undefined) throw semaphoreNeedsOneServer(name, registry.limits.words)
      return new HoldfastSemaphore(name, key, all)
    }
    return {
      methods: { getSemaphore },
      holdings: () => ({ held: all?.held ?? [] }),
      drain: () => all?.drain(),
      shutDown: () => all?.shutDown(),
    }
  },
}

refuseDetached(HoldfastSemaphore, 'semaphore')
