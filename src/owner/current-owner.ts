import type { Clock } from '../kit/clock.ts'
import type { Frames } from './frames.ts'
import type { HeldLeases } from './held-leases.ts'
import { Holder, type Kept } from './holder.ts'
import type { Owner } from './owner.ts'

/** The locks that one client holds or waits for, on one server or quorum. */
interface LocksInUse {
  readonly frames: Frames
  readonly clock: Pick<Clock, 'monotonic'>
  find(rawName: string): LockInUse | undefined
}

interface LockInUse {
  /** True if the owner holds the lock in this client. */
  isHeldBy(owner: Owner): boolean
  /** True if an acquisition of the owner is under way. */
  isPending(owner: Owner): boolean
}

/**
 * The reason why an `unlock()` may be the call of another task. `loss`: another task lost its
 * lease. `others`: another task got no lease, or still waits for one.
 */
export type Doubt = 'loss' | 'others'

interface EndedInDoubt {
  readonly token: number
  /** A time on the monotonic clock, like all times in this file. */
  readonly endedAt: number
}

/**
 * Finds the owner for which the running code uses one lock object. It also stores the leases that
 * the lock object acquired outside all frames, each for a new owner.
 */
export class CurrentOwner<L extends Kept> extends Holder {
  /** The owner that `getLock` received. It takes precedence over all frames. */
  readonly explicit: Owner | undefined
  readonly #rawName: string
  readonly #registry: LocksInUse
  readonly #heldLeases: HeldLeases<L>
  /**
   * The number of calls outside frames that are in progress. `#gotNothingAt` is the time when the
   * last call without a lease ended.
   */
  #underWay = 0
  #gotNothingAt = -Infinity
  /** The last lease that an `unlock()` ended although the lease may belong to another task. */
  #endedInDoubt: EndedInDoubt | undefined
  /** True if the task that lost this lease to the `unlock()` may still call `unlock()` itself. */
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
   * Returns the owner for which an acquisition re-enters: the explicit owner, or the owner of an
   * enclosing frame that holds the lock.
   */
  enclosing(): Owner | undefined {
    if (this.explicit !== undefined) return this.explicit
    const lock = this.#registry.find(this.#rawName)
    return lock && this.#find((owner) => lock.isHeldBy(owner))
  }

  /** Returns the owner of a bare acquisition; undefined if the acquisition needs a new owner. */
  ofBareCall(): Owner | undefined {
    const holder = this.enclosing()
    if (holder !== undefined) return holder
    const thread = this.#registry.frames.thread()
    if (thread === undefined) return undefined
    // A second acquisition during the first cannot be sequential code, so it gets a new owner.
    const isPending =
      thread.isGathering(this.#rawName) || this.#registry.find(this.#rawName)?.isPending(thread)
    return isPending ? undefined : thread
  }

  /**
   * Returns the object that stores the lease of a new owner for `unlock()`: the innermost frame for
   * this lock, or this object.
   */
  leaseHolder(): Holder {
    return this.#find() ?? this
  }

  /**
   * Returns the lease that an `unlock()` of the running code releases. The lease may already be
   * lost.
   */
  leaseToUndo(): L | undefined {
    const latestOf = (owner: Owner) =>
      this.#heldLeases.latest(owner, this.#rawName, ({ scoped }) => !scoped)
    return this.#of(latestOf, () => this.#heldLeases.earliest(this, this.#rawName))
  }

  override began(): void {
    this.#underWay += 1
  }

  override ended(gotLease: boolean): void {
    this.#underWay -= 1
    if (!gotLease) this.gotNothing()
  }

  /** Called when a call ended without a lease, even if the call was refused before it began. */
  gotNothing(): void {
    this.#gotNothingAt = this.#registry.clock.monotonic()
  }

  /**
   * Returns why the `unlock()` that is about to release this lease may be the call of another task;
   * undefined if there is no doubt. It also forgets the lost leases of this object.
   *
   * The client cannot refuse such a call, because it cannot know which task makes the call. The
   * call names no lease. The async context of Node.js does not help, because tasks may share it,
   * and an acquisition does not change the context of its caller. Counting calls does not help
   * either. Only the last `unlock()` finds nothing, so the client learns too late that there was
   * one call too many.
   *
   * But if only one task uses the object, its calls follow each other. Between its call for the
   * lease and its `unlock()`, no other call of this object is in progress or ends without a lease.
   */
  doubtAbout(lease: L): Doubt | undefined {
    if (!lease.live || this.explicit !== undefined || this.leaseHolder() !== this) return undefined
    const hasLost = this.#heldLeases.forgetLost(this, this.#rawName)
    const hasOthers = this.#underWay > 0 || this.#gotNothingAt >= lease.askedAt
    const doubt = hasLost ? 'loss' : hasOthers || this.#mayYetCome ? 'others' : undefined
    // The flag is cleared if no other call was seen. Otherwise each doubtful `unlock()` would make
    // the next one doubtful, forever.
    this.#mayYetCome = hasOthers
    if (doubt !== undefined) {
      this.#endedInDoubt = { token: lease.token, endedAt: this.#registry.clock.monotonic() }
    }
    return doubt
  }

  /**
   * Returns the lease that a doubtful `unlock()` ended, for the error of a later `unlock()` that
   * finds nothing. It returns each lease once.
   */
  takeEndedInDoubt(): { readonly token: number; readonly agoMs: number } | undefined {
    const ended = this.#endedInDoubt
    this.#endedInDoubt = undefined
    this.#mayYetCome = false
    if (ended === undefined) return undefined
    const agoMs = Math.round(this.#registry.clock.monotonic() - ended.endedAt)
    return { token: ended.token, agoMs }
  }

  /** Returns a lease that the running code holds. */
  heldLease(): L | undefined {
    const liveOf = (holder: Holder) => this.#heldLeases.live(holder, this.#rawName)
    return this.#of(liveOf, () => liveOf(this))
  }

  /**
   * Returns the lease of the explicit owner, or of the innermost frame with a lease. If no frame is
   * for this lock, returns the lease that this object stores.
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
