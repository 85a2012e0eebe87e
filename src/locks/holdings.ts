import type { Holder } from '../owner/holder.ts'

/** How many of them there are: each has a number. */
let made = 0

/**
 * Which leases an `unlock()` could mean: those of an owner, or those that a lock object acquired
 * outside any frame. Each on its lock, in the order of their acquisition.
 */
export class Holdings<L extends object> {
  /** Sets its leases apart: a holder has others in other `Holdings`, maybe under the same name. */
  readonly #prefix: string

  constructor() {
    made += 1
    this.#prefix = `${made}:`
  }

  add(holder: Holder, rawName: string, lease: L): void {
    holder.keep(this.#prefix + rawName, lease)
  }

  remove(holder: Holder, rawName: string, lease: L): void {
    holder.drop(this.#prefix + rawName, lease)
  }

  /** Nested code undoes its latest acquisition first. */
  latest(holder: Holder, rawName: string, accepts: (lease: L) => boolean): L | undefined {
    return this.#leases(holder, rawName)?.findLast(accepts)
  }

  /**
   * Tasks that share a lock object cannot be told apart. The earliest acquisition comes first: a
   * task that comes late, with its lease lost, then gets its own loss and not another's lock.
   */
  earliest(holder: Holder, rawName: string): L | undefined {
    return this.#leases(holder, rawName)?.at(0)
  }

  #leases(holder: Holder, rawName: string): readonly L[] | undefined {
    return holder.kept(this.#prefix + rawName) as readonly L[] | undefined
  }
}
