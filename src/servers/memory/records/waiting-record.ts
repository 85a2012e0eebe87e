import { UPGRADABLE_SUFFIX } from '../../read-write-server.ts'

/** What a client waits for. */
export type Wanted = 'read' | 'upgradable' | 'write'

/** Before all times: of a client that has the upgradable lock and waits to write. */
export const GOES_ON = 3

/** A client that waits. */
export interface Waiting {
  readonly client: string
  readonly wanted: Wanted
  /** The server's time in µs; {@link GOES_ON} if it has the upgradable lock and waits to write. */
  readonly sinceUs: number
}

/** Clients in their order. Those who wait to write, or for the upgradable lock, are in one. */
interface Queue {
  readonly members: Map<string, Waiting>
  endsAt: number
}

/** The clients in which somebody waits for a read-write lock, and until when that counts. */
export class WaitingRecord {
  readonly #readers: Queue = { members: new Map(), endsAt: Infinity }
  readonly #writers: Queue = { members: new Map(), endsAt: Infinity }
  readonly #untilMs = new Map<string, number>()
  #endsAt = Infinity
  /** Until when those are let in who waited to read when a writer left. */
  #phaseEndsAt = -Infinity

  expire(now: number): void {
    for (const queue of [this.#readers, this.#writers]) {
      if (now > queue.endsAt) queue.members.clear()
    }
    if (now > this.#endsAt) this.#untilMs.clear()
    if (now > this.#phaseEndsAt) this.endPhase()
  }

  get isForgotten(): boolean {
    return this.size('read') + this.size('write') + this.#untilMs.size === 0 && !this.isPhase
  }

  /** How many wait in the queue of those who want that. */
  size(wanted: Wanted): number {
    return this.#queueOf(wanted).members.size
  }

  /** Until when that of a client counts; of no use where it is in no queue. */
  get marks(): number {
    return this.#untilMs.size
  }

  /** The queue of those who want that, the one who has waited for the longest first. */
  list(wanted: Wanted): Waiting[] {
    const all = [...this.#queueOf(wanted).members]
    all.sort(([a, one], [b, other]) => one.sinceUs - other.sinceUs || (a < b ? -1 : 1))
    return all.map(([, waiting]) => waiting)
  }

  /** The first of that queue who still waits; those before who do not are taken out. */
  first(wanted: Wanted, now: number): Waiting | undefined {
    return this.list(wanted).find((waiting) => {
      const member = memberOf(waiting.client, waiting.wanted)
      const untilMs = this.#untilMs.get(member)
      if (untilMs !== undefined && untilMs >= now) return true
      this.#queueOf(wanted).members.delete(member)
      this.#untilMs.delete(member)
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
    const queue = this.#queueOf(wanted)
    const member = memberOf(client, wanted)
    const found = queue.members.get(member)?.sinceUs
    // Nobody keeps its place from a wait to write to an upgrade, or back.
    const isKept = found !== undefined && (found === GOES_ON) === (fromUs === GOES_ON)
    const sinceUs = isKept ? found : fromUs
    queue.members.set(member, { client, wanted, sinceUs })
    this.#untilMs.set(member, now + aliveMs)
    const endsAt = now + 2 * aliveMs
    queue.endsAt = queue.members.size > 1 ? Math.max(queue.endsAt, endsAt) : endsAt
    this.#endsAt = this.#untilMs.size > 1 ? Math.max(this.#endsAt, endsAt) : endsAt
    return sinceUs
  }

  /** Nobody of that client waits for that any more. */
  leave(client: string, wanted: Wanted): void {
    const member = memberOf(client, wanted)
    if (!this.#queueOf(wanted).members.delete(member)) return
    this.#untilMs.delete(member)
    if (this.size('read') === 0) this.endPhase()
  }

  /** For how much longer it counts that a client waits, in milliseconds. */
  countsForMs({ client, wanted }: Waiting, now: number): number {
    const untilMs = this.#untilMs.get(memberOf(client, wanted)) ?? now
    return Math.max(0, Math.ceil(untilMs - now))
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

  /** Whether a reader of that client has to wait behind the first of the queue. */
  isShut(client: string, wanted: 'read' | 'upgradable', now: number): boolean {
    const first = this.first('write', now)
    if (first === undefined) return false
    if (wanted === 'upgradable') return first.wanted !== wanted || first.client !== client
    return first.wanted === 'write' && !this.isPhase
  }

  #queueOf(wanted: Wanted): Queue {
    return wanted === 'read' ? this.#readers : this.#writers
  }
}

/** A client that waits for the upgradable lock does so under a name of its own. */
function memberOf(client: string, wanted: Wanted): string {
  return wanted === 'upgradable' ? client + UPGRADABLE_SUFFIX : client
}
