import type { Lease } from '../lease/lease.ts'
import { Holder } from '../owner/holder.ts'
import type { Owner } from '../owner/owner.ts'
import type { Desk } from './desk.ts'
import type { Holdings } from './holdings.ts'

/**
 * For whom the running code acts when it uses one lock object. What that acquires outside any frame
 * is kept here.
 */
export class Actor<L extends object = Lease> extends Holder {
  /** The owner that the lock object was made with. It goes before all frames. */
  readonly explicit: Owner | undefined
  readonly #rawName: string
  readonly #desk: Desk
  readonly #holdings: Holdings<L>

  constructor(rawName: string, explicit: Owner | undefined, desk: Desk, holdings: Holdings<L>) {
    super()
    this.#holdings = holdings
    this.#rawName = rawName
    this.explicit = explicit
    this.#desk = desk
  }

  /** The owner to re-enter as: the explicit one, or that of a frame around that holds the lock. */
  enclosing(): Owner | undefined {
    if (this.explicit !== undefined) return this.explicit
    const holder = this.#desk.find(this.#rawName)?.holder ?? undefined
    return holder && this.#desk.frames.find((owner) => owner === holder)
  }

  /** The owner of a bare acquisition; undefined when it is to be one of its own. */
  bare(): Owner | undefined {
    const holder = this.enclosing()
    if (holder !== undefined) return holder
    const frame = this.#desk.frames.current()
    if (frame === undefined) return undefined
    // Two at once in one frame cannot be sequential code.
    const isPending =
      frame.isGathering(this.#rawName) || this.#desk.find(this.#rawName)?.isPending(frame)
    return isPending ? undefined : frame
  }

  /** Under whom a lease is kept for `unlock()`: its owner, else the frame, else this. */
  holderFor(owner: Owner | undefined): Holder {
    return owner ?? this.#desk.frames.current() ?? this
  }

  /**
   * The lease that the running code holds: of the explicit owner, or of the innermost frame that
   * has one; outside any frame, the one that is kept here.
   */
  held(accepts: (lease: L) => boolean = () => true): L | undefined {
    const { frames } = this.#desk
    const holdings = this.#holdings
    const latestOf = (owner: Owner) => holdings.latest(owner, this.#rawName, accepts)
    if (this.explicit !== undefined) return latestOf(this.explicit)
    if (frames.current() === undefined) return holdings.earliest(this, this.#rawName)
    const owner = frames.find((one) => latestOf(one) !== undefined)
    return owner && latestOf(owner)
  }
}
