import { leaseMs as checkedLeaseMs } from '../input.ts'
import type { Hold } from '../lease/hold.ts'
import { Lease } from '../lease/lease.ts'
import type { Acquisition } from '../options.ts'
import type { Holder } from '../owner/holder.ts'
import type { Owner } from '../owner/owner.ts'
import { Actor } from './actor.ts'
import type { Desk } from './desk.ts'
import type { Asker } from './waiter.ts'

/** What a lock object is to the algorithms: one lock, as one client gets at it. */
export class Access {
  /** The name of the lock, as it was given to `getLock`. */
  readonly name: string
  readonly rawName: string
  readonly desk: Desk
  readonly fair: boolean
  readonly actor: Actor<Lease>

  constructor(name: string, rawName: string, owner: Owner | undefined, desk: Desk, fair: boolean) {
    this.name = name
    this.rawName = rawName
    this.desk = desk
    this.fair = fair
    this.actor = new Actor(rawName, owner, desk, desk.holdings)
  }

  /** @throws `InvalidArgumentError`, `ClosedError`, or the reason of an abort */
  assertPossible({ leaseMs, signal }: Acquisition): void {
    this.desk.assertOpen(this.name)
    this.desk.assertNotLonger(this.name, leaseMs)
    signal?.throwIfAborted()
  }

  /**
   * Acquires the lock for an owner.
   *
   * @param how.holder under whom the lease is kept for `unlock()`; the owner when left out
   * @param how.scoped whether somebody else than `unlock()` releases it
   * @param how.askedAt when its call began, if it is an owner of its own
   * @param how.known whether somebody else was found to have it before
   * @param how.once set where it asks once although it has time: whom it asks
   * @returns the lease; null when it was not to be had in the time given
   * @throws `ClosedError`, or the reason of an abort
   */
  acquire(
    owner: Owner,
    { leaseMs, waitMs, signal }: Acquisition,
    {
      holder = owner,
      scoped,
      askedAt = Infinity,
      known = false,
      once,
    }: { holder?: Holder; scoped: boolean; askedAt?: number; known?: boolean; once?: Asker },
  ): Promise<Lease | null> {
    this.desk.assertOpen(this.name)
    signal?.throwIfAborted()
    const watched = leaseMs === undefined
    const contender = this.desk.contender(this.name, this.rawName)
    const { holdings } = this.desk
    const leaseOf = (hold: Hold) => {
      const lease = new Lease(hold, scoped, askedAt, {
        release: () => {
          holdings.remove(holder, this.rawName, lease)
          return contender.release(hold, watched)
        },
        extend: (ms) => {
          this.desk.assertNotLonger(this.name, checkedLeaseMs(ms, '`leaseMs`'))
          return contender.extend(hold, ms)
        },
      })
      holdings.add(holder, this.rawName, lease)
      hold.whenLost ??= () => holdings.lookAfter(holder, this.rawName)
      return lease
    }
    return contender.acquire({
      owner,
      leaseMs: leaseMs ?? this.desk.leaseMs,
      watched,
      fair: this.fair,
      waitMs,
      signal,
      known,
      once,
      leaseOf,
    })
  }
}
