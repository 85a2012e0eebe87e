import type { NumberKind } from '../../number-kind.ts'
import { permitIds } from '../../permit-ids.ts'
import { permitsOf } from '../../permit-pool.ts'
import { PermitWaitingRecord } from './permit-waiting-record.ts'
import { RequestRecord } from './request-record.ts'

/** The permits that one acquisition holds. */
interface TakenPermits {
  endsAt: number
  /** When the owner acquired the permits, in µs of the server's time. */
  readonly sinceUs: number
  /**
   * The ids of the permits that the owner still holds. A release by ids removes them one by one, so
   * there may be fewer than the owner id says.
   */
  readonly ids: readonly string[]
}

/**
 * The state of one semaphore on a server. Times are in milliseconds of the server's time. As in
 * Redis, expired permits are freed only when a request needs the number of available permits.
 */
export class SemaphoreRecord {
  #available: number | null = null
  /** When the number of permits expires; Infinity means never. */
  #endsAt = Infinity
  /** The permits that owners hold, by owner. */
  readonly #taken = new Map<string, TakenPermits>()
  /** When all taken permits expire because the semaphore expires; Infinity means never. */
  #takenEndsAt = Infinity
  /** The kind of semaphore that has set the number of permits. */
  kind: Exclude<NumberKind, 'latch'> = 'semaphore'
  readonly waiting = new PermitWaitingRecord()
  readonly requests = new RequestRecord()

  /** Deletes all parts that have expired. */
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

  /** The number of available permits, which can be below 0; 0 if no number is set. */
  get available(): number {
    return this.#available ?? 0
  }

  /**
   * Adds permits; a negative number removes permits. Creates the semaphore if it does not exist.
   *
   * @returns the number of available permits
   */
  add(permits: number): number {
    this.#available = this.available + permits
    return this.#available
  }

  /**
   * Sets when the semaphore expires. Permits that owners take after this call expire at the same
   * time.
   */
  endAt(endsAt: number): void {
    this.#endsAt = endsAt
  }

  /**
   * Deletes the number of permits.
   *
   * @returns true if a number was set
   */
  delete(): boolean {
    const { isSet } = this
    this.#available = null
    this.#endsAt = Infinity
    return isSet
  }

  /**
   * Deletes all taken permits.
   *
   * @returns true if any permits were taken
   */
  deleteTaken(): boolean {
    const { size } = this.#taken
    this.#taken.clear()
    return size > 0
  }

  /** The number of taken permits. Expired permits count until they are freed. */
  get taken(): number {
    let taken = 0
    for (const { ids } of this.#taken.values()) taken += ids.length
    return taken
  }

  /** The owners that hold permits. The owner whose lease ends first is first. */
  get takers(): readonly (readonly [owner: string, taken: Readonly<TakenPermits>])[] {
    return [...this.#taken].sort(([, a], [, b]) => a.endsAt - b.endsAt)
  }

  /** When the first lease of all taken permits ends; Infinity if no permits are taken. */
  get firstEndsAt(): number {
    let first = Infinity
    for (const { endsAt } of this.#taken.values()) first = Math.min(first, endsAt)
    return first
  }

  /** True if the owner holds at least one permit. */
  has(owner: string): boolean {
    return this.#taken.has(owner)
  }

  /**
   * Returns when the lease of the owner's permits ends; undefined if the owner does not hold all of
   * its permits.
   */
  takenUntil(owner: string): number | undefined {
    const taken = this.#taken.get(owner)
    return taken?.ids.length === permitsOf(owner) ? taken.endsAt : undefined
  }

  /** Gives the owner as many permits as its owner id says. */
  takePermits(owner: string, endsAt: number, sinceUs: number): void {
    this.#taken.set(owner, { endsAt, sinceUs, ids: permitIds(owner) })
    this.add(-permitsOf(owner))
    if (this.#endsAt !== Infinity) this.#takenEndsAt = this.#endsAt
  }

  /**
   * Lengthens the lease of the owner's permits until `endsAt`. A longer lease stays as long as it
   * is.
   */
  lengthen(owner: string, endsAt: number): void {
    const taken = this.#taken.get(owner)
    if (taken !== undefined) taken.endsAt = Math.max(taken.endsAt, endsAt)
  }

  /**
   * Frees all permits of the owner.
   *
   * @returns true if the owner held all permits of its acquisition
   */
  giveBack(owner: string): boolean {
    const taken = this.#taken.get(owner)
    if (taken === undefined) return false
    this.#taken.delete(owner)
    this.add(taken.ids.length)
    return taken.ids.length === permitsOf(owner)
  }

  /**
   * Frees the permits with these ids.
   *
   * @returns how many of these permits were taken
   */
  giveBackIds(ids: ReadonlySet<string>): number {
    let given = 0
    for (const [owner, taken] of this.#taken) {
      const kept = taken.ids.filter((id) => !ids.has(id))
      given += taken.ids.length - kept.length
      if (kept.length === 0) this.#taken.delete(owner)
      else if (kept.length < taken.ids.length) this.#taken.set(owner, { ...taken, ids: kept })
    }
    if (given > 0) this.add(given)
    return given
  }

  /** Frees all permits whose lease has expired. */
  giveBackExpired(now: number): void {
    for (const [owner, { endsAt }] of this.#taken) if (endsAt <= now) this.giveBack(owner)
  }
}
