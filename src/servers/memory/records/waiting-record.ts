import { isUpgradable, isWriter, UPGRADABLE_SUFFIX } from '../../read-write-server.ts'

/**
 * The value of `sinceUs` for an owner that waits for an upgrade. It is smaller than every time, so
 * such an owner comes first.
 */
export const GOES_ON = 3

/**
 * The place of a waiter. All readers and writers of a client share one place, and its waiters for
 * the upgradable lock share another. An owner that waits for an upgrade has its own place.
 */
export interface PlaceRecord {
  readonly member: string
  readonly client: string
  readonly wanted: 'read' | 'upgradable' | 'write' | 'upgrade'
}

export interface Waiting extends PlaceRecord {
  /** When the wait began, in µs of the server's time; {@link GOES_ON} for an upgrade. */
  readonly sinceUs: number
}

/** One of two queues: the waiters to read, or the waiters to write and for the upgradable lock. */
interface Queue {
  readonly members: Map<string, Waiting>
  endsAt: number
}

/** The clients that wait for one read-write lock, and until when each place counts. */
export class WaitingRecord {
  readonly #readers: Queue = { members: new Map(), endsAt: Infinity }
  readonly #writers: Queue = { members: new Map(), endsAt: Infinity }
  readonly #untilMs = new Map<string, number>()
  #endsAt = Infinity
  /**
   * When the current phase ends; -Infinity without a phase. In a phase, the readers that waited for
   * the last writer acquire the lock before the next writer.
   */
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

  /** Returns the number of places in the queue. Places that do not count any more are included. */
  size(queue: 'read' | 'write'): number {
    return this.#queueOf(queue).members.size
  }

  /** The number of places with an expiry. It includes places that were removed with their queue. */
  get marks(): number {
    return this.#untilMs.size
  }

  /** Returns the places in the queue that still count. The place with the longest wait is first. */
  list(queue: 'read' | 'write', now: number): Waiting[] {
    return this.#inOrder(queue).filter((waiting) => this.#counts(waiting, now))
  }

  /** Returns the first place in the queue that still counts. Removes the places before it. */
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
   * Adds a place to its queue. If the place exists, it keeps its position.
   *
   * @param nowUs the server's time, in µs
   * @param aliveMs how long the place counts, in milliseconds from now
   * @returns when the wait began, in µs of the server's time
   */
  enter(place: PlaceRecord, nowUs: number, now: number, aliveMs: number): number {
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

  /**
   * Removes the place from its queue.
   *
   * @returns true if the queue had the place
   */
  remove({ member, wanted }: Pick<PlaceRecord, 'member' | 'wanted'>): boolean {
    if (!this.#queueOf(wanted).members.delete(member)) return false
    this.#untilMs.delete(member)
    if (this.size('read') === 0) this.endPhase()
    return true
  }

  /** Returns for how much longer the place counts, in milliseconds. */
  countsForMs({ member }: Waiting, now: number): number {
    return Math.max(0, Math.ceil((this.#untilMs.get(member) ?? now) - now))
  }

  /** True in a phase: readers that waited for the last writer come before the next writer. */
  get isPhase(): boolean {
    return this.#phaseEndsAt !== -Infinity
  }

  /** Returns the remaining time of the phase, in milliseconds; 0 without a phase. */
  phaseLeftMs(now: number): number {
    return Math.max(0, Math.ceil(this.#phaseEndsAt - now))
  }

  beginPhase(endsAt: number): void {
    this.#phaseEndsAt = endsAt
  }

  endPhase(): void {
    this.#phaseEndsAt = -Infinity
  }

  /**
   * True if a reader must wait, because a waiter in the writers' queue comes first.
   *
   * @param place the place of the reader
   */
  isShut({ member, wanted }: PlaceRecord, now: number): boolean {
    const first = this.first('write', now)
    if (first === undefined) return false
    if (wanted === 'upgradable') return first.member !== member
    return first.wanted !== 'upgradable' && !this.isPhase
  }

  #queueOf(wanted: PlaceRecord['wanted']): Queue {
    return wanted === 'read' ? this.#readers : this.#writers
  }
}

/**
 * Returns the place for an attempt.
 *
 * @param client the id of the client; '' if the attempt does not wait
 * @param beside the owner id with which the owner holds the lock as another kind; '' if it does not
 * hold the lock
 */
export function placeOf(client: string, owner: string, beside: string): PlaceRecord {
  const wanted = isUpgradable(owner) ? 'upgradable' : isWriter(owner) ? 'write' : 'read'
  if (client !== '' && beside !== '') {
    return { member: owner, client, wanted: isUpgradable(beside) ? 'upgrade' : wanted }
  }
  const isAside = client !== '' && wanted === 'upgradable'
  return { member: isAside ? client + UPGRADABLE_SUFFIX : client, client, wanted }
}
