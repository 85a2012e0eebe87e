import { isUpgradable, isWriter, UPGRADABLE_SUFFIX } from '../../read-write-server.ts'

/** Before all times: of an owner that has the upgradable lock and waits to write. */
export const GOES_ON = 3

/**
 * As what somebody waits, and for what. Each client has one place to read or to write, and one for the upgradable lock. An
 * owner that has the lock as another kind has one of its own.
 */
export interface Place {
  readonly member: string
  readonly client: string
  readonly wanted: 'read' | 'upgradable' | 'write' | 'upgrade'
}

/** A client that waits. */
export interface Waiting extends Place {
  /** The server's time in µs; {@link GOES_ON} of an upgrade. */
  readonly sinceUs: number
}

/** Who waits, in one order: to read; or to write, for the upgradable lock and for an upgrade. */
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

  /** How many wait in that queue. */
  size(queue: 'read' | 'write'): number {
    return this.#queueOf(queue).members.size
  }

  /** Until when that of a client counts; of no use where it is in no queue. */
  get marks(): number {
    return this.#untilMs.size
  }

  /** Those in that queue who still wait, the one who has waited for the longest first. */
  list(queue: 'read' | 'write', now: number): Waiting[] {
    return this.#inOrder(queue).filter((waiting) => this.#counts(waiting, now))
  }

  /** The first of these; those before who do not wait any more are taken out. */
  first(queue: 'read' | 'write', now: number): Waiting | undefined {
    return this.#inOrder(queue).find((waiting) => {
      if (this.#counts(waiting, now)) return true
      this.#queueOf(queue).members.delete(waiting.member)
      this.#untilMs.delete(waiting.member)
      return false
    })
  }

  #inOrder(queue: 'read' | 'write'): Waiting[] {
    const isBefore = (one: Waiting, other: Waiting) =>
      one.sinceUs - other.sinceUs || (one.member < other.member ? -1 : 1)
    return [...this.#queueOf(queue).members.values()].sort(isBefore)
  }

  #counts({ member }: Waiting, now: number): boolean {
    return (this.#untilMs.get(member) ?? -Infinity) >= now
  }

  /**
   * Somebody waits there, until its next request. It keeps its place.
   *
   * @param nowUs the server's time in µs
   * @param aliveMs for how long that counts, in milliseconds
   * @returns since when
   */
  enter(place: Place, nowUs: number, now: number, aliveMs: number): number {
    const { member, wanted } = place
    const queue = this.#queueOf(wanted)
    const fromUs = wanted === 'upgrade' ? GOES_ON : nowUs
    const sinceUs = queue.members.get(member)?.sinceUs ?? fromUs
    queue.members.set(member, { ...place, sinceUs })
    this.#untilMs.set(member, now + aliveMs)
    const endsAt = now + 2 * aliveMs
    queue.endsAt = queue.members.size > 1 ? Math.max(queue.endsAt, endsAt) : endsAt
    this.#endsAt = this.#untilMs.size > 1 ? Math.max(this.#endsAt, endsAt) : endsAt
    return sinceUs
  }

  /** Nobody waits there any more. @returns whether somebody did */
  leave({ member, wanted }: Pick<Place, 'member' | 'wanted'>): boolean {
    if (!this.#queueOf(wanted).members.delete(member)) return false
    this.#untilMs.delete(member)
    if (this.size('read') === 0) this.endPhase()
    return true
  }

  /** For how much longer it counts that somebody waits, in milliseconds. */
  countsForMs({ member }: Waiting, now: number): number {
    return Math.max(0, Math.ceil((this.#untilMs.get(member) ?? now) - now))
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

  /** Whether a reader has to wait behind the first of the queue. @param place its own */
  isShut({ member, wanted }: Place, now: number): boolean {
    const first = this.first('write', now)
    if (first === undefined) return false
    if (wanted === 'upgradable') return first.member !== member
    return first.wanted !== 'upgradable' && !this.isPhase
  }

  #queueOf(wanted: Place['wanted']): Queue {
    return wanted === 'read' ? this.#readers : this.#writers
  }
}

/**
 * As what an owner waits.
 *
 * @param client '' if it does not wait
 * @param beside the name under which the owner has the lock as another kind; '' for none
 */
export function placeOf(client: string, owner: string, beside: string): Place {
  const wanted = isUpgradable(owner) ? 'upgradable' : isWriter(owner) ? 'write' : 'read'
  if (client !== '' && beside !== '') {
    return { member: owner, client, wanted: isUpgradable(beside) ? 'upgrade' : wanted }
  }
  const isAside = client !== '' && wanted === 'upgradable'
  return { member: isAside ? client + UPGRADABLE_SUFFIX : client, client, wanted }
}
