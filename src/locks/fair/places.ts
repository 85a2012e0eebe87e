import type { Moment } from '../../kit/clock.ts'
import type { Owner } from '../../owner/owner.ts'
import type { Place } from './place.ts'

/** One request carries so many places at most: Redis does nothing else while it runs it. */
export const MOST_IN_ONE = 500

/**
 * The places of one client in the queue of one lock, in the order in which they came, and which of
 * them Redis is to be told of next.
 *
 * A place that is in the queue stays there without being told of: what keeps it is that its client is
 * known to be alive. It goes missing when it heads the queue, or where Redis has lost more than that:
 * so whether the first ones are there tells of all, or nearly so.
 */
export class Places implements Iterable<Place> {
  readonly #all = new Map<string, Place>()
  /** How many places each owner has. */
  readonly #owners = new Map<Owner, number>()
  #others: Iterator<Place> = this.#all.values()
  /** Some went missing before a request that was sent then, on the monotonic clock. */
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

  /** The first ones, of whom the next to be granted is one, as far as they are due. */
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

  /** Some of all others, as far as they are due: each time the next ones, and then from the start. */
  othersDue(now: Moment, olderMs: number): Place[] {
    if (this.size <= MOST_IN_ONE) return []
    const some = take(this.#others)
    if (some.length < MOST_IN_ONE) this.#others = this.#all.values()
    return some.filter((place) => place.isDue(now, olderMs))
  }

  /** Not all were there when a request ran that was sent then: the others are to be looked at too. */
  wereMissing(sentAt: Moment): void {
    if (this.size <= MOST_IN_ONE) return
    this.#missingAt = sentAt.monotonic
    this.#missing = this.#all.values()
  }

  /** Whether some may still be missing. */
  get mayBeMissing(): boolean {
    return this.#missingAt !== undefined
  }

  /** Those who may be missing and are to be told of next; empty when there are no more. */
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

  /** What was told of the last ones may not have arrived. */
  missingAgain(): void {
    this.#missing = this.#all.values()
  }
}

/** The next ones; fewer than a request can carry when there are no more. */
function take(places: Iterator<Place>): Place[] {
  const taken: Place[] = []
  while (taken.length < MOST_IN_ONE) {
    const { value, done } = places.next()
    if (done === true) break
    taken.push(value)
  }
  return taken
}
