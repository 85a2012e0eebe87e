import type { NumberKind } from '../../number-kind.ts'
import { permitIds } from '../../permit-ids.ts'
import { permitsOf } from '../../permit-pool.ts'
import { PermitWaitingRecord } from './permit-waiting-record.ts'
import { RequestRecord } from './request-record.ts'

/** The permits of one acquisition. */
interface Taken {
  endsAt: number
  /** When its owner acquired them, in µs. */
  readonly sinceUs: number
  /**
   * The ids of the permits that the owner still holds. Permits that were released by their ids are
   * missing here, so there may be fewer than the owner id says.
   */
  readonly ids: readonly string[]
}

/**
 * The state of one semaphore on a server. Moments are in milliseconds, on the server's clock.
 * Expired permits stay taken until a request needs the number of free permits, as in Redis.
 */
export class SemaphoreRecord {
  #available: number | null = null
  /** When the number of permits expires. */
  #endsAt = Infinity
  /** The permits of each owner. Permits that were released by their ids are missing here. */
  readonly #taken = new Map<string, Taken>()
  /** When all of these permits expire together with the semaphore. */
  #takenEndsAt = Infinity
  /** The kind of semaphore that has set the number. */
  kind: Exclude<NumberKind, 'latch'> = 'semaphore'
  readonly waiting = new PermitWaitingRecord()
  readonly requests = new RequestRecord()

  /** Forgets all that has expired. */
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

  /** True if the number of permits was set, even to 0. */
  get isSet(): boolean {
    return this.#available !== null
  }

  /** How many permits are free; can be below 0. */
  get available(): number {
    return this.#available ?? 0
  }

  /** Adds or removes permits, even if there was no semaphore. @returns how many are free then */
  add(permits: number): number {
    this.#available = this.available + permits
    return this.#available
  }

  /** Sets when the semaphore expires. Permits that are taken after this call expire with it. */
  endAt(endsAt: number): void {
    this.#endsAt = endsAt
  }

  /** Deletes the number. @returns true if there was a number */
  delete(): boolean {
    const { isSet } = this
    this.#available = null
    this.#endsAt = Infinity
    return isSet
  }

  /** Forgets all taken permits. @returns true if there were any */
  deleteTaken(): boolean {
    const { size } = this.#taken
    this.#taken.clear()
    return size > 0
  }

  /** How many permits are taken, including expired permits. */
  get taken(): number {
    let taken = 0
    for (const { ids } of this.#taken.values()) taken += ids.length
    return taken
  }

  /** The owners with permits, the earliest expiry first. */
  get takers(): readonly (readonly [owner: string, taken: Readonly<Taken>])[] {
    return [...this.#taken].sort(([, a], [, b]) => a.endsAt - b.endsAt)
  }

  /** The earliest end of a lease among the taken permits; Infinity if none are taken. */
  get firstEndsAt(): number {
    let first = Infinity
    for (const { endsAt } of this.#taken.values()) first = Math.min(first, endsAt)
    return first
  }

  /** True if the owner still holds any of its permits. */
  has(owner: string): boolean {
    return this.#taken.has(owner)
  }

  /** Until when the owner has its permits; undefined if some are missing. */
  takenUntil(owner: string): number | undefined {
    const taken = this.#taken.get(owner)
    return taken?.ids.length === permitsOf(owner) ? taken.endsAt : undefined
  }

  /** Takes as many permits as the owner id says. */
  take(owner: string, endsAt: number, sinceUs: number): void {
    this.#taken.set(owner, { endsAt, sinceUs, ids: permitIds(owner) })
    this.add(-permitsOf(owner))
    if (this.#endsAt !== Infinity) this.#takenEndsAt = this.#endsAt
  }

  /** Lets the owner keep its permits at least until `endsAt`; never shortens the time. */
  lengthen(owner: string, endsAt: number): void {
    const taken = this.#taken.get(owner)
    if (taken !== undefined) taken.endsAt = Math.max(taken.endsAt, endsAt)
  }

  /** Frees the owner's permits. @returns true if the owner had all of them */
  giveBack(owner: string): boolean {
    const taken = this.#taken.get(owner)
    if (taken === undefined) return false
    this.#taken.delete(owner)
    this.add(taken.ids.length)
    return taken.ids.length === permitsOf(owner)
  }

  /** Frees these permits. @returns how many of them were taken */
  giveBackIds(ids: ReadonlySet<string>): number {
    let given = 0
    for (const [owner, taken] of this.#taken) {
      const left = taken.ids.filter((id) => !ids.has(id))
      given += taken.ids.length - left.length
      if (left.length === 0) this.#taken.delete(owner)
      else if (left.length < taken.ids.length) this.#taken.set(owner, { ...taken, ids: left })
    }
    if (given > 0) this.add(given)
    return given
  }

  /** Frees the expired permits. */
  giveBackExpired(now: number): void {
    for (const [owner, { endsAt }] of this.#taken) if (endsAt <= now) this.giveBack(owner)
  }
}
