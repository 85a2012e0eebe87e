import { WAITING_MS } from '../../waiting-time.ts'

/** A client in which somebody waits for permits. */
interface WaitingForPermits {
  readonly client: string
  /** The server's time in µs. */
  readonly sinceUs: number
  /** How many the first of it wants. */
  readonly permits: number
  /** Until when that counts. */
  readonly untilMs: number
}

/** Clients in which somebody waits for permits: each has one place, that of who has waited for the longest. */
export class PermitWaitingRecord {
  readonly #places = new Map<string, WaitingForPermits>()
  #endsAt = Infinity

  expire(now: number): void {
    if (now > this.#endsAt) this.#places.clear()
  }

  get size(): number {
    return this.#places.size
  }

  /** The first of them, the one who has waited for the longest before the others. */
  list(most: number): WaitingForPermits[] {
    const all = [...this.#places.values()]
    return all.sort((a, b) => (isBefore(a, b) ? -1 : 1)).slice(0, most)
  }

  /** Who has waited for the longest and still does; those who do not are taken out. */
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
   * Whether nobody has waited for longer than this client has.
   *
   * @param client '' for one that does not wait
   */
  isNext(client: string, sinceUs: number, now: number): boolean {
    let first = this.first(now)
    if (first?.client === client && first.sinceUs < sinceUs) {
      // Its place is that of one who has gone on: another client may have waited for longer.
      this.#places.set(client, { ...first, sinceUs })
      first = this.first(now)
    }
    if (first === undefined) return true
    return client !== '' && (first.client === client || first.sinceUs > sinceUs)
  }

  /** Somebody of that client waits, until its next request. */
  enter(client: string, sinceUs: number, permits: number, now: number): void {
    this.#places.set(client, { client, sinceUs, permits, untilMs: now + WAITING_MS })
    this.#endsAt = now + 2 * WAITING_MS
  }

  /** Nobody of that client waits any more. */
  leave(client: string): void {
    this.#places.delete(client)
  }

  /** One of that client has its permits. The next is about to ask: its place is kept for it so long. */
  goOn(client: string, isLast: boolean, now: number): void {
    const place = this.#places.get(client)
    if (isLast) this.leave(client)
    else if (place) this.#places.set(client, { ...place, permits: 1, untilMs: now + WAITING_MS })
  }
}

function isBefore(a: WaitingForPermits, b: WaitingForPermits): boolean {
  return a.sinceUs < b.sinceUs || (a.sinceUs === b.sinceUs && a.client < b.client)
}
