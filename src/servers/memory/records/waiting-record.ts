import { isUpgradable, isWriter, UPGRADABLE_SUFFIX } from '../../read-write-server.ts'

/**
 * Stored as `sinceUs`, instead of a time, for the holder of the upgradable lock that waits to
 * write. It is smaller than every time, so this waiter comes first.
 */
export const GOES_ON = 3

/**
 * The place of a waiter. Each client has one place to read or to write, and one for the upgradable
 * lock. An owner that already holds the lock as another kind has its own place.
 */
export interface Place {
  readonly member: string
  readonly client: string
  readonly wanted: 'read' | 'upgradable' | 'write' | 'upgrade'
}

export interface Waiting extends Place {
  /** When the wait began, in µs of the server's time; {@link GOES_ON} for an upgrade. */
  readonly sinceUs: number
}

/** One queue: of the waiters to read, or of the waiters to write and for the upgradable lock. */
interface Queue {
  readonly members: Map<string, Waiting>
  endsAt: number
}

/** The clients that wait for a read-write lock, and until when each place counts. */
export class WaitingRecord {
  readonly #readers: Queue = { members: new Map(), endsAt: Infinity }
  readonly #writers: Queue = { members: new Map(), endsAt: Infinity }
  readonly #untilMs = new Map<string, number>()
  #endsAt = Infinity
  /**
   * The end of the phase in which the readers acquire the lock that waited for a writer to leave.
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

  /** How many places are in that queue. */
  size(queue: 'read' | 'write'): number {
    return this.#queueOf(queue).members.size
  }

  /** How many expiry times are stored. Some may belong to places that no queue has any more. */
  get marks(): number {
    return this.#untilMs.size
  }

  /** The places in that queue that still count, the longest wait first. */
  list(queue: 'read' | 'write', now: number): Waiting[] {
    return this.#inOrder(queue).filter((waiting) => this.#counts(waiting, now))
  }

  /** The first place in that queue that still counts. Removes the places before it. */
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
   * Stores that a waiter waits. The place then counts for `aliveMs`. If the waiter already has a
   * place, the place keeps its position.
   *
   * @param nowUs the server's time in µs
   * @param aliveMs for how long the place counts, in milliseconds
   * @returns when the wait began, in µs
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

  /** Removes the place. @returns true if it existed */
  leave({ member, wanted }: Pick<Place, 'member' | 'wanted'>): boolean {
    if (!this.#queueOf(wanted).members.delete(member)) return false
    this.#untilMs.delete(member)
    if (this.size('read') === 0) this.endPhase()
    return true
  }

  /** For how much longer the place counts, in milliseconds. */
  countsForMs({ member }: Waiting, now: number): number {
    return Math.max(0, Math.ceil((this.#untilMs.get(member) ?? now) - now))
  }

  /** True while readers that waited for a writer to leave come before the next writer. */
  get isPhase(): boolean {
    return this.#phaseEndsAt !== -Infinity
  }

  /** The remaining time of that phase in milliseconds; 0 if it is over. */
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
   * True if a reader must wait behind the first waiter of the writers' queue.
   *
   * @param place the reader's place
   */
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
 * The place of a waiting owner.
 *
 * @param client the id of the client; '' if the owner does not wait
 * @param beside the owner id with which the owner holds the lock as another kind; '' for none
 */
export function placeOf(client: string, owner: string, beside: string): Place {
  const wanted = isUpgradable(owner) ? 'upgradable' : isWriter(owner) ? 'write' : 'read'
  if (client !== '' && beside !== '') {
    return { member: owner, client, wanted: isUpgradable(beside) ? 'upgrade' : wanted }
  }
  const isAside = client !== '' && wanted === 'upgradable'
  return { member: isAside ? client + UPGRADABLE_SUFFIX : client, client, wanted }
}
