import type { Place } from './place.ts'

/**
 * The largest number of requests at a time. More requests would not be faster, because this number
 * keeps the client and the server busy.
 */
const MOST = 128

/**
 * Limits how many waiters for one lock request their place at a time, in the order of their calls.
 * Thousands of waiters may wait for a connection. If all of them sent their requests at once, each
 * request would spend most of its time limit behind other requests.
 */
export class RequestsInFlight {
  readonly #asking = new Set<Place>()
  readonly #next = new Set<Place>()

  /**
   * @returns true if the waiter may send its request now. If false, the waiter's wake event is set
   * later, when the waiter may send its request
   */
  admits(place: Place): boolean {
    if (place.answered || this.#asking.has(place)) return true
    if (this.#asking.size < MOST && this.#next.size === 0) this.#asking.add(place)
    else this.#next.add(place)
    return !this.#next.has(place)
  }

  /**
   * Ends the request or the wait for a request of this place. The next waiter may then send its
   * request.
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
