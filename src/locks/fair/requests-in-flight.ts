import type { Place } from './place.ts'

/** More at the same time make nothing quicker: the client and Redis are busy with these. */
const MOST = 128

/**
 * So many of those who queue for one lock ask for their place at the same time, in the order in
 * which they came. If all did, as when thousands wait for a connection, the time of each request
 * would be spent behind those of the others.
 */
export class RequestsInFlight {
  readonly #asking = new Set<Place>()
  readonly #next = new Set<Place>()

  /** @returns whether it may ask now; else the event of its waiter is set when it may */
  admits(place: Place): boolean {
    if (place.answered || this.#asking.has(place)) return true
    if (this.#asking.size < MOST && this.#next.size === 0) this.#asking.add(place)
    else this.#next.add(place)
    return !this.#next.has(place)
  }

  /** It was answered, or wants no answer any more. */
  done(place: Place): void {
    this.#next.delete(place)
    if (!this.#asking.delete(place)) return
    const [next] = this.#next
    if (next === undefined) return
    this.#next.delete(next)
    this.#asking.add(next)
    next.waiter.wakeEvent.set()
  }
}
