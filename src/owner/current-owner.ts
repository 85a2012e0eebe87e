import type { Clock } from '../kit/clock.ts'
import type { Frames } from './frames.ts'
import type { HeldLeases } from './held-leases.ts'
import { Holder, type Kept } from './holder.ts'
import type { Owner } from './owner.ts'

/** What is known of the locks of one client at one place, those that are held or waited for. */
interface LocksInUse {
  readonly frames: Frames
  readonly clock: Pick<Clock, 'monotonic'>
  find(rawName: string): LockInUse | undefined
}

interface LockInUse {
  /** Whether that owner has it in this client. */
  isHeldBy(owner: Owner): boolean
  /** Whether that owner is about to have it. */
  isPending(owner: Owner): boolean
}

/** Why an `unlock()` may be another task's: of one that lost its lease, or of one that got none or still waits. */
export type Doubt = 'loss' | 'others'

interface EndedInDoubt {
  readonly token: number
  /** On the monotonic clock, as all moments here. */
  readonly endedAt: number
}

/**
 * For whom the running code acts when it uses one lock object. What that acquires for nobody else,
 * each time as an owner of its own, is kept here.
 */
export class CurrentOwner<L extends Kept> extends Holder {
  /** The owner that the lock object was made with. It goes before all frames. */
  readonly explicit: Owner | undefined
  readonly #rawName: string
  readonly #registry: LocksInUse
  readonly #heldLeases: HeldLeases<L>
  /** How many calls of its own are under way, and when one last ended with nothing. */
  #underWay = 0
  #gotNothingAt = -Infinity
  /** The lease that an `unlock()` ended last which may have been another task's. */
  #endedInDoubt: EndedInDoubt | undefined
  /** Whether the task that had it may yet come with an `unlock()` of its own. */
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

  /** The owner to re-enter as: the explicit one, or that of a frame around that holds the lock. */
  enclosing(): Owner | undefined {
    if (this.explicit !== undefined) return this.explicit
    const lock = this.#registry.find(this.#rawName)
    return lock && this.#find((owner) => lock.isHeldBy(owner))
  }

  /** The owner of a bare acquisition; undefined when it is to be one of its own. */
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
   * Under whom `unlock()` finds what an owner of its own acquires: the frame that has to do with this
   * lock, else this.
   */
  leaseHolder(): Holder {
    return this.#find() ?? this
  }

  /** The lease that an `unlock()` by the running code undoes, live or lost. */
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

  /** Also for a call that was refused before it began. */
  gotNothing(): void {
    this.#gotNothingAt = this.#registry.clock.monotonic()
  }

  /**
   * Why the `unlock()` that is about to undo a lease may be that of another task than the one that has it;
   * undefined where it is not in doubt. What this object has lost beside it is forgotten.
   *
   * There is nothing that could refuse such a call. Whose it is cannot be known: it has no lease, and the
   * context that Node.js keeps for it is that of whoever called, not of what an `await` before has given.
   * To count calls does not tell either, for what is one `unlock()` too many is known only when the last
   * one finds nothing. But one task makes its calls one after the other: nothing else of this object is
   * under way, or has ended with nothing, between the call for its lease and its `unlock()`.
   */
  doubtAbout(lease: L): Doubt | undefined {
    if (!lease.live || this.explicit !== undefined || this.leaseHolder() !== this) return undefined
    const hasLost = this.#heldLeases.forgetLost(this, this.#rawName)
    const hasOthers = this.#underWay > 0 || this.#gotNothingAt >= lease.askedAt
    const doubt = hasLost ? 'loss' : hasOthers || this.#mayYetCome ? 'others' : undefined
    // Else each would make the next one doubtful, for good.
    this.#mayYetCome = hasOthers
    if (doubt !== undefined) {
      this.#endedInDoubt = { token: lease.token, endedAt: this.#registry.clock.monotonic() }
    }
    return doubt
  }

  /** The lease that an `unlock()` in doubt has ended, for the one that then finds nothing. Told once. */
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
   * What the explicit owner has, or the innermost frame that has any; what is kept here where no
   * frame has to do with this lock.
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
