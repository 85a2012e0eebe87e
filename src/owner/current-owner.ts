import type { Clock } from '../kit/clock.ts'
import type { Frames } from './frames.ts'
import type { HeldLeases } from './held-leases.ts'
import { Holder, type Kept } from './holder.ts'
import type { Owner } from './owner.ts'

/** The locks of one client on one server or quorum that are held or waited for. */
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
 * Why an `unlock()` may belong to another task. `loss`: that task lost its lease. `others`: that
 * task got no lease, or still waits.
 */
export type Doubt = 'loss' | 'others'

interface EndedInDoubt {
  readonly token: number
  /** On the monotonic clock, like all moments in this file. */
  readonly endedAt: number
}

/**
 * Finds the owner for which the running code uses one lock object. It also keeps the leases that
 * the lock object acquires outside all frames, each for a new owner.
 */
export class CurrentOwner<L extends Kept> extends Holder {
  /** The owner that `getLock` received. It comes before all frames. */
  readonly explicit: Owner | undefined
  readonly #rawName: string
  readonly #registry: LocksInUse
  readonly #heldLeases: HeldLeases<L>
  /** How many calls outside frames are under way, and when the last call without a lease ended. */
  #underWay = 0
  #gotNothingAt = -Infinity
  /** The last lease that an `unlock()` ended although it may have been another task's. */
  #endedInDoubt: EndedInDoubt | undefined
  /** True if the task of that lease may still call `unlock()`. */
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
   * The owner that re-enters: the explicit owner, or the owner of an enclosing frame that holds the
   * lock.
   */
  enclosing(): Owner | undefined {
    if (this.explicit !== undefined) return this.explicit
    const lock = this.#registry.find(this.#rawName)
    return lock && this.#find((owner) => lock.isHeldBy(owner))
  }

  /** The owner of a bare acquisition; undefined if the acquisition needs a new owner. */
  ofBareCall(): Owner | undefined {
    const holder = this.enclosing()
    if (holder !== undefined) return holder
    const thread = this.#registry.frames.thread()
    if (thread === undefined) return undefined
    // Two at once in one frame cannot be sequential code.
    const isPending =
      thread.isGathering(this.#rawName) || this.#registry.find(this.#rawName)?.isPending(thread)
    return isPending ? undefined : thread
  }

  /**
   * `unlock()` finds the lease of a new owner under this holder: the innermost frame for this lock,
   * or this object.
   */
  leaseHolder(): Holder {
    return this.#find() ?? this
  }

  /** The lease that an `unlock()` of the running code releases, live or lost. */
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

  /** Also called for a call that was refused before it began. */
  gotNothing(): void {
    this.#gotNothingAt = this.#registry.clock.monotonic()
  }

  /**
   * Why the `unlock()` that is about to release this lease may belong to another task; undefined if
   * there is no doubt. It also forgets the other lost leases of this object.
   *
   * The client cannot refuse such a call, because it cannot know the task. The call has no lease.
   * The async context of Node.js is the context of the caller, and an `await` before does not
   * change it. Counting calls does not help either. Only the last `unlock()` finds nothing, so the
   * client learns too late of one call too many.
   *
   * But one task makes its calls one after the other. After its call for the lease and before its
   * `unlock()`, no other call of this object is under way or ends without a lease.
   */
  doubtAbout(lease: L): Doubt | undefined {
    if (!lease.live || this.explicit !== undefined || this.leaseHolder() !== this) return undefined
    const hasLost = this.#heldLeases.forgetLost(this, this.#rawName)
    const hasOthers = this.#underWay > 0 || this.#gotNothingAt >= lease.askedAt
    const doubt = hasLost ? 'loss' : hasOthers || this.#mayYetCome ? 'others' : undefined
    // Otherwise each `unlock()` in doubt would put the next in doubt, forever.
    this.#mayYetCome = hasOthers
    if (doubt !== undefined) {
      this.#endedInDoubt = { token: lease.token, endedAt: this.#registry.clock.monotonic() }
    }
    return doubt
  }

  /**
   * The lease that an `unlock()` in doubt ended, for the later `unlock()` that finds nothing.
   * Returned once.
   */
  takeEndedInDoubt(): { readonly token: number; readonly agoMs: number } | undefined {
    const ended = this.#endedInDoubt
    this.#endedInDoubt = undefined
    this.#mayYetCome = false
    if (ended === undefined) return undefined
    const agoMs = Math.round(this.#registry.clock.monotonic() - ended.endedAt)
    return { token: ended.token, agoMs }
  }

  /** A lease that the running code holds. */
  heldLease(): L | undefined {
    const liveOf = (holder: Holder) => this.#heldLeases.live(holder, this.#rawName)
    return this.#of(liveOf, () => liveOf(this))
  }

  /**
   * The lease of the explicit owner, or of the innermost frame with a lease. If no frame is for
   * this lock, the lease that this object keeps.
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
