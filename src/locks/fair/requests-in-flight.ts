import type { Place } from './place.ts'

/**
 * The greatest number of waiters for one lock that request their place at a time. This number keeps
 * the client and the server busy, so more requests would not be faster.
 */
const MOST = 128

/**
 * Limits how many waiters for one lock request their place at a time. The waiters send their
 * requests in the order of their calls. If thousands of waiters sent requests at once, each request
 * would spend most of its time limit behind other requests.
 */
export class RequestsInFlight {
  readonly #asking = new Set<Place>()
  readonly #next = new Set<Place>()

  /**
   * @returns true if the waiter may send its request now. Otherwise `done` of another place wakes
   * the waiter
   */
  admits(place: Place): boolean {
    if (place.answered || this.#asking.has(place)) return true
    if (this.#asking.size < MOST && this.#next.size === 0) this.#asking.add(place)
    else this.#next.add(place)
    return !this.#next.has(place)
  }

  /**
   * Called when the request of this place has ended or is not needed. Wakes the next waiter, which
   * may then send its request.
   */
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
