import { permitsOf } from '../../permit-pool.ts'
import { PermitWaitingRecord } from './permit-waiting-record.ts'
import { RequestRecord } from './request-record.ts'

/**
 * What a server has of one semaphore. Moments are in milliseconds, on its clock. Permits whose time ran out stay
 * taken until somebody has to know how many are left, as on a server of Redis.
 */
export class SemaphoreRecord {
  #available: number | null = null
  /** Until when that counts. */
  #endsAt = Infinity
  /** Who has taken permits, and until when: as many as the name says. */
  readonly #taken = new Map<string, number>()
  /** Until when any of that counts. */
  #takenEndsAt = Infinity
  readonly waiting = new PermitWaitingRecord()
  readonly requests = new RequestRecord()

  /** Forgets what has run out. */
  expire(now: number): void {
    if (now > this.#endsAt) [this.#available, this.#endsAt] = [null, Infinity]
    if (now > this.#takenEndsAt) this.#taken.clear()
    if (this.#taken.size === 0) this.#takenEndsAt = Infinity
    this.waiting.expire(now)
    this.requests.expire(now)
  }

  get isForgotten(): boolean {
    return !this.isSet && this.#taken.size + this.waiting.size + this.requests.size === 0
  }

  /** Whether it has permits, or none because that was said. */
  get isSet(): boolean {
    return this.#available !== null
  }

  /** How many are to be had, also fewer than none. */
  get available(): number {
    return this.#available ?? 0
  }

  /** Makes more available, or fewer, also where there was no such semaphore. @returns how many are then */
  add(permits: number): number {
    this.#available = this.available + permits
    return this.#available
  }

  /** It is gone then, with all that is taken from then on. */
  endAt(endsAt: number): void {
    this.#endsAt = endsAt
  }

  /** How many are taken, also of those whose time ran out. */
  get taken(): number {
    let taken = 0
    for (const owner of this.#taken.keys()) taken += permitsOf(owner)
    return taken
  }

  /** Who has taken permits, and until when, the first who is to give them back before the others. */
  get takers(): readonly (readonly [owner: string, endsAt: number])[] {
    return [...this.#taken].sort(([, a], [, b]) => a - b)
  }

  /** When the first of those that are taken is to come back; Infinity where none is. */
  get firstEndsAt(): number {
    let first = Infinity
    for (const endsAt of this.#taken.values()) first = Math.min(first, endsAt)
    return first
  }

  /** Until when that owner has what it has taken; undefined where it has nothing. */
  takenUntil(owner: string): number | undefined {
    return this.#taken.get(owner)
  }

  /** Takes what the owner's name says. */
  take(owner: string, endsAt: number): void {
    this.#taken.set(owner, endsAt)
    this.add(-permitsOf(owner))
    if (this.#endsAt !== Infinity) this.#takenEndsAt = this.#endsAt
  }

  /** The owner has them until then at least; never for less time. */
  lengthen(owner: string, endsAt: number): void {
    this.#taken.set(owner, Math.max(this.#taken.get(owner) ?? endsAt, endsAt))
  }

  /** What the owner has taken is available. @returns whether it had any */
  giveBack(owner: string): boolean {
    if (!this.#taken.delete(owner)) return false
    this.add(permitsOf(owner))
    return true
  }

  /** What was taken until now, or before, is available. */
  giveBackExpired(now: number): void {
    for (const [owner, endsAt] of this.#taken) if (endsAt <= now) this.giveBack(owner)
  }
}
