import { releasedError } from '../../errors.ts'
import { handleClassOf } from '../../kit/handle.ts'
import { LEASE_MEMBERS, LEASE_NAMING } from '../../lease/lease.ts'
import { LocalLease } from '../../local/local-lease.ts'
import { permitIds } from '../../servers/permit-ids.ts'
import { OF_SEMAPHORE } from './semaphore-words.ts'

const MEMBERS = [...LEASE_MEMBERS, 'permits', 'ids'] as const

/**
 * Permits of a semaphore that were acquired together, with one lease. The clocks of the holder's process decide how
 * long the lease is valid. A permit has the methods of a lock's lease. `release()` releases these permits, once.
 */
export interface Permit extends Pick<HeldPermit, (typeof MEMBERS)[number]> {}

/** The object behind a {@link Permit}. */
export class HeldPermit extends LocalLease {
  #ids: readonly string[] | undefined

  /** How many permits were acquired together. */
  get permits(): number {
    return this.hold.kind.permits ?? 1
  }

  /**
   * The ids of the permits as Redisson stores them, 32 hex digits each. Redisson's `release(id)` and
   * `updateLeaseTime(id, …)` accept these ids.
   */
  get ids(): readonly string[] {
    this.#ids ??= permitIds(this.owner, this.permits)
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
