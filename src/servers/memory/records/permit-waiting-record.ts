import { WAITING_MS } from '../../waiting-time.ts'

/** A client that waits for permits. */
interface WaitingForPermits {
  readonly client: string
  /** When its wait began, in µs of the server's time. */
  readonly sinceUs: number
  /** How many permits its first waiter wants. */
  readonly permits: number
  /** Until when its place counts. */
  readonly untilMs: number
}

/**
 * The clients that wait for permits. Each client has one place. Its position depends on the longest
 * wait of the client.
 */
export class PermitWaitingRecord {
  readonly #places = new Map<string, WaitingForPermits>()
  #endsAt = Infinity

  expire(now: number): void {
    if (now > this.#endsAt) this.#places.clear()
  }

  get size(): number {
    return this.#places.size
  }

  /** The first clients, the longest wait first. */
  list(most: number): WaitingForPermits[] {
    const all = [...this.#places.values()]
    return all.sort((a, b) => (isBefore(a, b) ? -1 : 1)).slice(0, most)
  }

  /**
   * The client with the longest wait whose place still counts. Places that no longer count are
   * removed.
   */
  first(now: number): WaitingForPermits | undefined {
    let first: WaitingForPermits | undefined
    for (const place of this.#places.values()) {
      if (first === undefined || isBefore(place, first)) first = place
    }
    if (first === undefined || first.untilMs >= now) return first
    this.#places.delete(first.client)
    return this.first(now)
  }

  /**
   * True if no other client has waited for longer.
   *
   * @param client '' if the client does not wait
   */
  isNext(client: string, sinceUs: number, now: number): boolean {
    let first = this.first(now)
    if (first?.client === client && first.sinceUs < sinceUs) {
      // The stored wait belongs to a waiter that has its permits now. This waiter began later, so
      // another client may come before this client.
      this.#places.set(client, { ...first, sinceUs })
      first = this.first(now)
    }
    if (first === undefined) return true
    return client !== '' && (first.client === client || first.sinceUs > sinceUs)
  }

  /** Stores that the client waits. The place then counts for `WAITING_MS`. */
  enter(client: string, sinceUs: number, permits: number, now: number): void {
    this.#places.set(client, { client, sinceUs, permits, untilMs: now + WAITING_MS })
    this.#endsAt = now + 2 * WAITING_MS
  }

  /** Called when the client no longer waits. */
  leave(client: string): void {
    this.#places.delete(client)
  }

  /**
   * Called when a waiter of the client has its permits. The next waiter of the client is about to
   * ask, so the place is kept for a while. After the last waiter, the place is removed.
   */
  goOn(client: string, isLast: boolean, now: number): void {
    const place = this.#places.get(client)
    if (isLast) this.leave(client)
    else if (place) this.#places.set(client, { ...place, permits: 1, untilMs: now + WAITING_MS })
  }
}

function isBefore(a: WaitingForPermits, b: WaitingForPermits): boolean {
  return a.sinceUs < b.sinceUs || (a.sinceUs === b.sinceUs && a.client < b.client)
}
