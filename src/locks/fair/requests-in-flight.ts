import type { Place } from './place.ts'

/** More requests at a time are not faster, because the client and Redis are busy with these. */
const MOST = 128

/**
 * Limits how many waiters for one lock request their place at a time, in the order of their calls.
 * Thousands may wait for a connection. If all asked at once, each request would spend its time
 * behind the others.
 */
export class RequestsInFlight {
  readonly #asking = new Set<Place>()
  readonly #next = new Set<Place>()

  /** @returns true if it may ask now. Otherwise the event of its waiter is set when it may */
  admits(place: Place): boolean {
    if (place.answered || this.#asking.has(place)) return true
    if (this.#asking.size < MOST && this.#next.size === 0) this.#asking.add(place)
    else this.#next.add(place)
    return !this.#next.has(place)
  }

  /** Its request was answered, or is no longer needed. */
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
