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
  #asking = 0
  // Created when it is first needed, because most locks never have so many waiters.
  #next: Set<Place> | undefined

  /**
   * @returns true if the waiter may send its request now. Otherwise `done` of another place wakes
   * the waiter
   */
  admits(place: Place): boolean {
    if (place.answered || place.asking) return true
    if (this.#asking >= MOST || this.#next?.size) {
      this.#next ??= new Set()
      this.#next.add(place)
      return false
    }
    this.#start(place)
    return true
  }

  /**
   * Called when the request of this place has ended or is not needed. Wakes the next waiter, which
   * may then send its request.
   */
  done(place: Place): void {
    this.#next?.delete(place)
    if (!place.asking) return
    place.asking = false
    this.#asking -= 1
    const [next] = this.#next ?? []
    if (next === undefined) return
    this.#next?.delete(next)
    this.#start(next)
    next.waiter.wakeEvent.set()
  }

  #start(place: Place): void {
    place.asking = true
    this.#asking += 1
  }
}
