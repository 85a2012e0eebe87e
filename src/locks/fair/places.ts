import type { Moment } from '../../kit/clock.ts'
import type { Owner } from '../../owner/owner.ts'
import type { Place } from './place.ts'

/**
 * The largest number of places in one request. The server serves no other client while it runs the
 * request.
 */
export const MOST_IN_ONE = 500

/**
 * The places of one client in the queue of one lock, in FIFO order. This class selects the places
 * that the next requests list.
 *
 * The server keeps all places of a client that sends heartbeats. Places are lost only at the head
 * of the queue, or when the server loses data. So if the first places still exist, almost certainly
 * all places exist.
 */
export class Places implements Iterable<Place> {
  readonly #all = new Map<string, Place>()
  /** The number of places of each owner. */
  readonly #owners = new Map<Owner, number>()
  #others: Iterator<Place> | undefined
  /**
   * Since when places may be missing on the server, in milliseconds on the monotonic clock.
   * Undefined if no place may be missing.
   */
  #missingAt: number | undefined
  #missing: Iterator<Place> | undefined

  get size(): number {
    return this.#all.size
  }

  get(ownerId: string): Place | undefined {
    return this.#all.get(ownerId)
  }

  hasOf(owner: Owner): boolean {
    return this.#owners.has(owner)
  }

  [Symbol.iterator](): Iterator<Place> {
    return this.#all.values()
  }

  add(place: Place): void {
    const { owner } = place.waiter.request
    this.#all.set(place.ownerId, place)
    this.#owners.set(owner, (this.#owners.get(owner) ?? 0) + 1)
  }

  delete(place: Place): boolean {
    if (!this.#all.delete(place.ownerId)) return false
    const { owner } = place.waiter.request
    const remaining = (this.#owners.get(owner) ?? 1) - 1
    if (remaining > 0) this.#owners.set(owner, remaining)
    else this.#owners.delete(owner)
    return true
  }

  /**
   * Returns the due places among the first {@link MOST_IN_ONE}. The next grant for this client goes
   * to one of the first places.
   */
  firstDue(now: Moment, olderMs: number): Place[] {
    const due: Place[] = []
    let remaining = MOST_IN_ONE
    for (const place of this.#all.values()) {
      if (place.isDue(now, olderMs)) due.push(place)
      remaining -= 1
      if (remaining === 0) break
    }
    return due
  }

  /**
   * Returns the due places of the next part of a queue that is longer than {@link MOST_IN_ONE}. Each
   * call continues where the last call stopped. After the last place, the next call begins again
   * with the first place.
   */
  othersDue(now: Moment, olderMs: number): Place[] {
    if (this.size <= MOST_IN_ONE) return []
    this.#others ??= this.#all.values()
    const some = nextPlaces(this.#others)
    if (some.length < MOST_IN_ONE) this.#others = undefined
    return some.filter((place) => place.isDue(now, olderMs))
  }

  /**
   * Records that the server may have lost places. The client then lists all places of a long queue
   * again.
   *
   * @param sentAt since when places may be missing
   */
  mayBeMissingSince(sentAt: Moment): void {
    if (this.size <= MOST_IN_ONE) return
    this.#missingAt = sentAt.monotonic
    this.#missing = undefined
  }

  /** True if the server may have lost places that the client has not listed again. */
  get mayBeMissing(): boolean {
    return this.#missingAt !== undefined
  }

  /**
   * Returns the next places that the server may have lost. Empty if the client has listed all
   * places again.
   */
  nextMissing(): Place[] {
    const before = this.#missingAt
    if (before === undefined) return []
    this.#missing ??= this.#all.values()
    for (let some = nextPlaces(this.#missing); some.length > 0; some = nextPlaces(this.#missing)) {
      const missing = some.filter((place) => place.isQueuedSince(before) === false)
      if (missing.length > 0) return missing
    }
    this.#missingAt = undefined
    return []
  }

  /**
   * Makes `nextMissing` begin again with the first place, because the last request may not have
   * reached the server.
   */
  missingAgain(): void {
    this.#missing = undefined
  }
}

/**
 * Returns the next places, at most {@link MOST_IN_ONE}. If the result has fewer places, the iterator
 * is at its end.
 */
function nextPlaces(places: Iterator<Place>): Place[] {
  const taken: Place[] = []
  while (taken.length < MOST_IN_ONE) {
    const { value, done } = places.next()
    if (done === true) break
    taken.push(value)
  }
  return taken
}
