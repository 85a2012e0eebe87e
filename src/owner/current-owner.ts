import type { Frames } from './frames.ts'
import type { HeldLeases } from './held-leases.ts'
import { Holder, type Kept } from './holder.ts'
import type { Owner } from './owner.ts'

/** What is known of the locks of one client at one place, those that are held or waited for. */
interface LocksInUse {
  readonly frames: Frames
  find(rawName: string): LockInUse | undefined
}

interface LockInUse {
  /** Whether that owner has it in this client. */
  isHeldBy(owner: Owner): boolean
  /** Whether that owner is about to have it. */
  isPending(owner: Owner): boolean
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

  /**
   * Forgets what this object has lost beside the lease that an `unlock()` is about to undo.
   *
   * @returns whether there was any: then the call may be that of another task
   */
  forgetLostBeside(lease: L): boolean {
    if (!lease.live || this.explicit !== undefined || this.leaseHolder() !== this) return false
    return this.#heldLeases.forgetLost(this, this.#rawName)
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
