import { releasedError } from '../../errors.ts'
import { handleClassOf } from '../../kit/handle.ts'
import { LEASE_MEMBERS, LEASE_NAMING } from '../../lease/lease.ts'
import { LocalLease } from '../../local/local-lease.ts'
import { permitIds } from '../../servers/permit-ids.ts'
import { permitsOf } from '../../servers/permit-pool.ts'
import { OF_SEMAPHORE } from './semaphore-words.ts'

const MEMBERS = [...LEASE_MEMBERS, 'permits', 'ids'] as const

/**
 * Permits of a semaphore that were acquired together, with one lease. The holder's own clocks decide how long it is
 * valid. It has the methods of a lock's lease. `release()` releases these permits, once.
 */
export interface Permit extends Pick<HeldPermit, (typeof MEMBERS)[number]> {}

/** The internal object of permits with one lease. */
export class HeldPermit extends LocalLease {
  #ids: readonly string[] | undefined

  /** The number of permits. */
  get permits(): number {
    return permitsOf(this.owner)
  }

  /**
   * The ids of the permits as Redisson stores them, 32 hex digits each. Redisson's `release(id)` and
   * `updateLeaseTime(id, …)` take them.
   */
  get ids(): readonly string[] {
    this.#ids ??= permitIds(this.owner)
    return this.#ids
  }

  override toJSON(): Record<string, unknown> {
    return { ...super.toJSON(), permits: this.permits }
  }

  /** @internal */
  protected override newHandle(): Permit {
    return new PermitHandle(this)
  }

  /** @internal */
  protected override releasedBefore(): Error {
    return releasedError(this.name, OF_SEMAPHORE)
  }
}

const PermitHandle = handleClassOf(HeldPermit, MEMBERS, { ...LEASE_NAMING, variable: 'permit' })
