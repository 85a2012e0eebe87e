import { WAITING_MS } from '../../waiting-time.ts'

/** The place of one client that waits for permits. */
interface PermitPlace {
  readonly client: string
  /** When the client began to wait, in µs of the server's time. */
  readonly sinceUs: number
  /** The number of permits that the client's first waiter wants. */
  readonly permits: number
  /** Until when the place counts, in milliseconds of the server's time. */
  readonly untilMs: number
}

/**
 * The clients that wait for permits. Each client has one place, for all of its waiters. A client
 * that has waited longer comes first.
 */
export class PermitWaitingRecord {
  readonly #places = new Map<string, PermitPlace>()
  #endsAt = Infinity

  expire(now: number): void {
    if (now > this.#endsAt) this.#places.clear()
  }

  get size(): number {
    return this.#places.size
  }

  /** Returns at most `most` places. The client that has waited longest is first. */
  list(most: number): PermitPlace[] {
    const all = [...this.#places.values()]
    return all.sort((a, b) => (isBefore(a, b) ? -1 : 1)).slice(0, most)
  }

  /**
   * Returns the client that has waited longest and whose place still counts. Removes the places
   * before it.
   */
  first(now: number): PermitPlace | undefined {
    let first: PermitPlace | undefined
    for (const place of this.#places.values()) {
      if (first === undefined || isBefore(place, first)) first = place
    }
    if (first === undefined || first.untilMs >= now) return first
    this.#places.delete(first.client)
    return this.first(now)
  }

  /**
   * True if no other client has waited longer.
   *
   * @param client the client that asks; '' if it does not wait
   * @param sinceUs when the client's call began to wait, in µs of the server's time
   */
  isNext(client: string, sinceUs: number, now: number): boolean {
    let first = this.first(now)
    if (first?.client === client && first.sinceUs < sinceUs) {
      // The stored time belongs to an earlier waiter of the client, which has its permits now. This
      // waiter began later, so another client may be next.
      this.#places.set(client, { ...first, sinceUs })
      first = this.first(now)
    }
    if (first === undefined) return true
    return client !== '' && (first.client === client || first.sinceUs > sinceUs)
  }

  /**
   * Gives the client a place, which counts for `WAITING_MS`. An existing place of the client is
   * replaced.
   */
  enter(client: string, sinceUs: number, permits: number, now: number): void {
    this.#places.set(client, { client, sinceUs, permits, untilMs: now + WAITING_MS })
    this.#endsAt = now + 2 * WAITING_MS
  }

  /** Removes the client's place. */
  remove(client: string): void {
    this.#places.delete(client)
  }

  /**
   * Called when a waiter of the client does not wait any more. Keeps the place for the next waiter
   * of the client. If `isLast` is true, removes the place.
   */
  goOn(client: string, isLast: boolean, now: number): void {
    const place = this.#places.get(client)
    if (isLast) this.remove(client)
    else if (place) this.#places.set(client, { ...place, permits: 1, untilMs: now + WAITING_MS })
  }
}

function isBefore(a: PermitPlace, b: PermitPlace): boolean {
  return a.sinceUs < b.sinceUs || (a.sinceUs === b.sinceUs && a.client < b.client)
}
