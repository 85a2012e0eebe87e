import type { Moment } from '../../kit/clock.ts'
import type { Owner } from '../../owner/owner.ts'
import type { Place } from './place.ts'

/**
 * The largest number of places in one request, because Redis does nothing else while it runs the
 * request.
 */
export const MOST_IN_ONE = 500

/**
 * The places of one client in the queue of one lock, in FIFO order. It selects the places that the
 * next requests list.
 *
 * A place stays in the queue without being listed, because its client is known to be alive. A place
 * goes missing at the head of the queue, or if Redis loses data. So if the first places are there,
 * almost certainly all are.
 */
export class Places implements Iterable<Place> {
  readonly #all = new Map<string, Place>()
  /** How many places each owner has. */
  readonly #owners = new Map<Owner, number>()
  #others: Iterator<Place> = this.#all.values()
  /** When a request was sent that found places missing, on the monotonic clock. */
  #missingAt: number | undefined
  #missing: Iterator<Place> = this.#all.values()

  get size(): number {
    return this.#all.size
  }

  get(wireOwner: string): Place | undefined {
    return this.#all.get(wireOwner)
  }

  hasOf(owner: Owner): boolean {
    return this.#owners.has(owner)
  }

  [Symbol.iterator](): Iterator<Place> {
    return this.#all.values()
  }

  add(place: Place): void {
    const { owner } = place.waiter.request
    this.#all.set(place.wireOwner, place)
    this.#owners.set(owner, (this.#owners.get(owner) ?? 0) + 1)
  }

  delete(place: Place): boolean {
    if (!this.#all.delete(place.wireOwner)) return false
    const { owner } = place.waiter.request
    const left = (this.#owners.get(owner) ?? 1) - 1
    if (left > 0) this.#owners.set(owner, left)
    else this.#owners.delete(owner)
    return true
  }

  /** The first places, as far as they are due. The next grant goes to one of them. */
  firstDue(now: Moment, olderMs: number): Place[] {
    const due: Place[] = []
    let left = MOST_IN_ONE
    for (const place of this.#all.values()) {
      if (place.isDue(now, olderMs)) due.push(place)
      left -= 1
      if (left === 0) break
    }
    return due
  }

  /**
   * Some of the other places, as far as they are due. Each call continues where the last call
   * stopped, and then begins again.
   */
  othersDue(now: Moment, olderMs: number): Place[] {
    if (this.size <= MOST_IN_ONE) return []
    const some = take(this.#others)
    if (some.length < MOST_IN_ONE) this.#others = this.#all.values()
    return some.filter((place) => place.isDue(now, olderMs))
  }

  /** A request sent at `sentAt` found places missing, so all others must be checked too. */
  wereMissing(sentAt: Moment): void {
    if (this.size <= MOST_IN_ONE) return
    this.#missingAt = sentAt.monotonic
    this.#missing = this.#all.values()
  }

  /** True if some places may still be missing. */
  get mayBeMissing(): boolean {
    return this.#missingAt !== undefined
  }

  /** The next places that may be missing; empty if all were listed. */
  nextMissing(): Place[] {
    const before = this.#missingAt
    if (before === undefined) return []
    for (let some = take(this.#missing); some.length > 0; some = take(this.#missing)) {
      const missing = some.filter((place) => place.isQueuedSince(before) === false)
      if (missing.length > 0) return missing
    }
    this.#missingAt = undefined
    return []
  }

  /** The last request may not have arrived. */
  missingAgain(): void {
    this.#missing = this.#all.values()
  }
}

/** Takes the next places. If it returns fewer than a request can carry, these are the last. */
function take(places: Iterator<Place>): Place[] {
  const taken: Place[] = []
  while (taken.length < MOST_IN_ONE) {
    const { value, done } = places.next()
    if (done === true) break
    taken.push(value)
  }
  return taken
}
