import type { Clock } from '../kit/clock.ts'
import type { Frames } from './frames.ts'
import type { HeldLeases } from './held-leases.ts'
import { LeaseHolder, type StoredLease } from './lease-holder.ts'
import type { Owner } from './owner.ts'

/** The locks that one client uses, on one server or quorum. */
interface LocksInUse {
  readonly frames: Frames
  readonly clock: Pick<Clock, 'monotonic'>
  find(rawName: string): LockInUse | undefined
}

interface LockInUse {
  /** True if the owner holds the lock in this client. */
  isHeldBy(owner: Owner): boolean
  /** True if an acquisition of the lock by the owner is under way. */
  isPending(owner: Owner): boolean
}

/**
 * Why an `unlock()` may be the call of another task. `loss`: another task has lost its lease.
 * `others`: another task got no lease, or still waits for a lease.
 */
export type Doubt = 'loss' | 'others'

interface EndedInDoubt {
  readonly token: number
  /** When an `unlock()` ended the lease, on the monotonic clock. */
  readonly endedAt: number
}

/**
 * Finds the owner of the running code for one lock object. Also stores the leases that the lock
 * object acquired outside all frames. Each of these leases has a new owner.
 */
export class CurrentOwner<L extends StoredLease> extends LeaseHolder {
  /**
   * The owner that the caller gave to `getLock`, which has priority over the owners of frames.
   * Undefined if the caller gave no owner.
   */
  readonly explicit: Owner | undefined
  readonly #rawName: string
  readonly #registry: LocksInUse
  readonly #heldLeases: HeldLeases<L>
  /** The number of acquisitions that are under way outside all frames. */
  #underWay = 0
  /**
   * When an acquisition last ended without a lease, on the monotonic clock; -Infinity if that never
   * happened.
   */
  #gotNothingAt = -Infinity
  /**
   * The last lease that an `unlock()` ended although the lease may belong to another task.
   * Undefined if there is none.
   */
  #endedInDoubt: EndedInDoubt | undefined
  /**
   * True if another acquisition was under way or had failed at the last `unlock()`. The task of
   * this acquisition may still call `unlock()`.
   */
  #mayYetCome = false

  constructor(
    rawName: string,
    explicit: Owner | undefined,
    registry: LocksInUse,
    heldLeases: HeldLeases<L>,
  ) {
    super()
    this.#heldLeases = heldLeases
    this.#rawName = rawName
    this.explicit = explicit
    this.#registry = registry
  }

  /**
   * Returns the explicit owner. Without an explicit owner, returns the owner of an enclosing frame
   * that holds the lock. Undefined if there is no such owner.
   */
  enclosing(): Owner | undefined {
    if (this.explicit !== undefined) return this.explicit
    const lock = this.#registry.find(this.#rawName)
    return lock && this.#find((owner) => lock.isHeldBy(owner))
  }

  /**
   * Returns the owner of an acquisition by `lock` or `tryLock`. Undefined if the acquisition needs
   * a new owner.
   */
  ofBareCall(): Owner | undefined {
    const holder = this.enclosing()
    if (holder !== undefined) return holder
    const thread = this.#registry.frames.thread()
    if (thread === undefined) return undefined
    // Sequential code waits for its first acquisition before it acquires the lock again. So a
    // second acquisition at the same time belongs to other code, and gets a new owner.
    const isPending =
      thread.isGathering(this.#rawName) || this.#registry.find(this.#rawName)?.isPending(thread)
    return isPending ? undefined : thread
  }

  /**
   * Returns the object that stores the lease of a new owner, so that `unlock()` finds the lease.
   * The owner of the innermost frame for this lock stores the lease. Outside such frames, this
   * object stores the lease.
   */
  leaseHolder(): LeaseHolder {
    return this.#find() ?? this
  }

  /**
   * Returns the lease that an `unlock()` of the running code releases, even if this lease is lost.
   * Undefined if there is no such lease.
   */
  leaseToUndo(): L | undefined {
    const latestOf = (owner: Owner) =>
      this.#heldLeases.latest(owner, this.#rawName, ({ scoped }) => !scoped)
    return this.#of(latestOf, () => this.#heldLeases.earliest(this, this.#rawName))
  }

  override began(): void {
    this.#underWay += 1
  }

  override callEnded(gotLease: boolean): void {
    this.#underWay -= 1
    if (!gotLease) this.gotNothing()
  }

  /** Called when an acquisition ended without a lease, or when Holdfast refused to begin it. */
  gotNothing(): void {
    this.#gotNothingAt = this.#registry.clock.monotonic()
  }

  /**
   * Returns why the `unlock()` of this lease may be the call of another task. Undefined if there is
   * no doubt. Also forgets the lost leases of this object.
   *
   * The client cannot know which task calls `unlock()`: the call names no lease, and tasks may
   * share an async context. A count of the calls would not help, because only the last `unlock()`
   * would show that there was one call too many.
   *
   * There is no doubt if one task calls `lock()` and then `unlock()`. Between these calls, no other
   * acquisition by this object may be under way or fail.
   */
  doubtAbout(lease: L): Doubt | undefined {
    if (!lease.live || this.explicit !== undefined || this.leaseHolder() !== this) return undefined
    const hasLost = this.#heldLeases.forgetLost(this, this.#rawName)
    const hasOthers = this.#underWay > 0 || this.#gotNothingAt >= lease.calledAt
    const doubt = hasLost ? 'loss' : hasOthers || this.#mayYetCome ? 'others' : undefined
    // The field stores `hasOthers` and not the doubt. Otherwise each doubtful `unlock()` would make the
    // next `unlock()` doubtful, forever.
    this.#mayYetCome = hasOthers
    if (doubt !== undefined) {
      this.#endedInDoubt = { token: lease.token, endedAt: this.#registry.clock.monotonic() }
    }
    return doubt
  }

  /**
   * Returns the last lease that a doubtful `unlock()` ended, and forgets this lease. A later
   * `unlock()` that finds no lease names this lease in its error. `agoMs` is the time since the
   * doubtful `unlock()`, in milliseconds.
   */
  takeEndedInDoubt(): { readonly token: number; readonly agoMs: number } | undefined {
    const inDoubt = this.#endedInDoubt
    this.#endedInDoubt = undefined
    this.#mayYetCome = false
    if (inDoubt === undefined) return undefined
    const agoMs = Math.round(this.#registry.clock.monotonic() - inDoubt.endedAt)
    return { token: inDoubt.token, agoMs }
  }

  /** Returns the latest lease that the running code holds; undefined if there is none. */
  heldLease(): L | undefined {
    const liveOf = (holder: LeaseHolder) => this.#heldLeases.live(holder, this.#rawName)
    return this.#of(liveOf, () => liveOf(this))
  }

  /**
   * Returns the lease of the explicit owner, or of the innermost frame with a lease. Returns the
   * result of `own` if there is no explicit owner and no frame for this lock.
   */
  #of(leaseOf: (owner: Owner) => L | undefined, own: () => L | undefined): L | undefined {
    if (this.explicit !== undefined) return leaseOf(this.explicit)
    const owner = this.#find((one) => leaseOf(one) !== undefined)
    if (owner !== undefined) return leaseOf(owner)
    return this.#find() === undefined ? own() : undefined
  }

  #find(accepts?: (owner: Owner) => boolean): Owner | undefined {
    return this.#registry.frames.find(this.#registry, this.#rawName, accepts)
  }
}
