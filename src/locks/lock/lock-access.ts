import { leaseMs as checkedLeaseMs } from '../../input.ts'
import type { Hold } from '../../lease/hold.ts'
import { Lease } from '../../lease/lease.ts'
import { acquire } from '../../local/acquire.ts'
import { extend } from '../../local/extend.ts'
import type { LocalLocks } from '../../local/local-locks.ts'
import type { LockKind } from '../../local/lock-kind.ts'
import { release } from '../../local/release.ts'
import type { Acquisition } from '../../options.ts'
import { CurrentOwner } from '../../owner/current-owner.ts'
import type { Holder } from '../../owner/holder.ts'
import type { Owner } from '../../owner/owner.ts'
import type { HolderFacts } from '../../servers/answers.ts'
import type { Asker } from '../../waiting/waiter.ts'

/** What a lock object is to the algorithms: one lock, as one client gets at it. */
export class LockAccess {
  /** The name of the lock, as it was given to `getLock`. */
  readonly name: string
  readonly rawName: string
  readonly registry: LocalLocks
  readonly kind: LockKind
  readonly currentOwner: CurrentOwner<Lease>

  constructor(
    name: string,
    rawName: string,
    owner: Owner | undefined,
    locks: LocalLocks,
    kind: LockKind,
  ) {
    this.name = name
    this.rawName = rawName
    this.registry = locks
    this.kind = kind
    this.currentOwner = new CurrentOwner(rawName, owner, locks, locks.leases)
  }

  get fair(): boolean {
    return this.kind.isFair
  }

  /** @throws `InvalidArgumentError`, `ClosedError`, or the reason of an abort */
  assertPossible({ leaseMs, signal }: Acquisition): void {
    this.registry.assertOpen(this.name)
    this.registry.assertNotLonger(this.name, leaseMs)
    signal?.throwIfAborted()
  }

  /**
   * Who has the lock, as its place knows it.
   *
   * @param failed what did not come about where nobody can tell
   */
  peek(failed = 'not inspected'): Promise<HolderFacts> {
    const remote = this.registry.server.lock(this.rawName)
    return this.registry.ask(this.name, failed, (callMs) => remote.peek(callMs))
  }

  /**
   * Acquires the lock for an owner.
   *
   * @param how.holder under whom the lease is kept for `unlock()`; the owner when left out
   * @param how.scoped whether somebody else than `unlock()` releases it
   * @param how.askedAt when its call began, if it is an owner of its own
   * @param how.known whether somebody else was found to have it before
   * @param how.asksOnce whether it asks once although it has time
   * @param how.together set where it is asked for together with others
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
      asksOnce = false,
      together,
    }: {
      holder?: Holder
      scoped: boolean
      askedAt?: number
      known?: boolean
      asksOnce?: boolean
      together?: Asker | undefined
    },
  ): Promise<Lease | null> {
    this.registry.assertOpen(this.name)
    signal?.throwIfAborted()
    const watched = leaseMs === undefined
    const lock = this.registry.lock(this.name, this.rawName)
    const { leases } = this.registry
    const leaseOf = (hold: Hold) => {
      const lease = new Lease(hold, scoped, askedAt, {
        release: () => {
          leases.remove(holder, this.rawName, lease)
          return release(lock, hold, watched)
        },
        extend: (ms) => {
          this.registry.assertNotLonger(this.name, checkedLeaseMs(ms, '`leaseMs`'))
          return extend(lock, hold, ms)
        },
      })
      leases.add(holder, this.rawName, lease)
      hold.whenLost ??= () => leases.lookAfter(holder, this.rawName)
      return lease
    }
    return acquire(lock, this.kind, {
      owner,
      leaseMs: leaseMs ?? this.registry.leaseMs,
      watched,
      fair: this.kind.isFair,
      waitMs,
      signal,
      known,
      asksOnce,
      together,
      leaseOf,
    })
  }
}
