import { MOST_LISTED, type WaitingClient } from '../../answers.ts'

/** What a client waits for. */
export type Wanted = 'read' | 'write'

/** Before all times: of one that reads and is to go on to write. */
export const GOES_ON = 3

/** A client that waits. */
interface Waiting {
  readonly client: string
  /** The server's time in µs; {@link GOES_ON} for one that reads and is to go on to write. */
  readonly sinceUs: number
}

/** The clients that want the same. */
interface Queue {
  readonly sinceUs: Map<string, number>
  endsAt: number
}

/** The clients in which somebody waits for a read-write lock, and until when that counts. */
export class WaitingRecord {
  readonly #queues: Record<Wanted, Queue> = {
    read: { sinceUs: new Map(), endsAt: Infinity },
    write: { sinceUs: new Map(), endsAt: Infinity },
  }
  readonly #untilMs = new Map<string, number>()
  #endsAt = Infinity
  /** Until when those are let in who waited to read when a writer left. */
  #phaseEndsAt = -Infinity

  expire(now: number): void {
    for (const queue of Object.values(this.#queues)) {
      if (now > queue.endsAt) queue.sinceUs.clear()
    }
    if (now > this.#endsAt) this.#untilMs.clear()
    if (now > this.#phaseEndsAt) this.endPhase()
  }

  get isForgotten(): boolean {
    return this.size('read') + this.size('write') + this.#untilMs.size === 0 && !this.isPhase
  }

  size(wanted: Wanted): number {
    return this.#queues[wanted].sinceUs.size
  }

  /** Until when that of a client counts; of no use where it is in no queue. */
  get marks(): number {
    return this.#untilMs.size
  }

  /** Those who wait, the one who has waited for the longest first. */
  list(wanted: Wanted): Waiting[] {
    const all = [...this.#queues[wanted].sinceUs].map(([client, sinceUs]) => ({ client, sinceUs }))
    return all.sort((a, b) => a.sinceUs - b.sinceUs || (a.client < b.client ? -1 : 1))
  }

  /** Who has waited for the longest and still does; those who do not are taken out. */
  first(wanted: Wanted, now: number): Waiting | undefined {
    return this.list(wanted).find(({ client }) => {
      const untilMs = this.#untilMs.get(client)
      if (untilMs !== undefined && untilMs >= now) return true
      this.#queues[wanted].sinceUs.delete(client)
      this.#untilMs.delete(client)
      return false
    })
  }

  /**
   * Somebody of that client waits for that, until its next request.
   *
   * @param fromUs since when, if it has not waited for that before
   * @param aliveMs for how long that counts, in milliseconds
   * @returns since when
   */
  enter(client: string, wanted: Wanted, fromUs: number, now: number, aliveMs: number): number {
    const queue = this.#queues[wanted]
    const found = queue.sinceUs.get(client)
    // One that reads and is to go on to write has a place of its own.
    const isKept = found !== undefined && (found === GOES_ON) === (fromUs === GOES_ON)
    const sinceUs = isKept ? found : fromUs
    queue.sinceUs.set(client, sinceUs)
    this.#untilMs.set(client, now + aliveMs)
    const endsAt = now + 2 * aliveMs
    queue.endsAt = queue.sinceUs.size > 1 ? Math.max(queue.endsAt, endsAt) : endsAt
    this.#endsAt = this.#untilMs.size > 1 ? Math.max(this.#endsAt, endsAt) : endsAt
    return sinceUs
  }

  /** Nobody of that client waits for that any more: each waits for one of the two. */
  leave(client: string, wanted: Wanted): void {
    if (!this.#queues[wanted].sinceUs.delete(client)) return
    this.#untilMs.delete(client)
    if (this.size('read') === 0) this.endPhase()
  }

  /** For how much longer it counts that a client waits, in milliseconds. */
  countsForMs(client: string, now: number): number {
    return Math.max(0, Math.ceil((this.#untilMs.get(client) ?? now) - now))
  }

  /** Whether those are let in who waited to read when a writer left. */
  get isPhase(): boolean {
    return this.#phaseEndsAt !== -Infinity
  }

  /** What is left of that in milliseconds; 0 when it is over. */
  phaseLeftMs(now: number): number {
    return Math.max(0, Math.ceil(this.#phaseEndsAt - now))
  }

  beginPhase(endsAt: number): void {
    this.#phaseEndsAt = endsAt
  }

  endPhase(): void {
    this.#phaseEndsAt = -Infinity
  }

  /** Whether readers are to wait for a writer who waits. */
  isShut(now: number): boolean {
    return !this.isPhase && this.first('write', now) !== undefined
  }
}

/** Those of them who wait for that, as many as are told. */
export function waitingClients(
  waiting: WaitingRecord,
  wanted: Wanted,
  nowUs: number,
): WaitingClient[] {
  const listed = waiting.list(wanted).slice(0, MOST_LISTED)
  return listed.map(({ client, sinceUs }) => {
    const waitedMs = Math.max(0, Math.round((nowUs - sinceUs) / 1_000))
    return { client, waitedMs: sinceUs === GOES_ON ? null : waitedMs }
  })
}
