import type { NumberKind } from '../../number-kind.ts'
import { permitIds } from '../../permit-ids.ts'
import { permitsOf } from '../../permit-pool.ts'
import { PermitWaitingRecord } from './permit-waiting-record.ts'
import { RequestRecord } from './request-record.ts'

/** The permits of one acquisition. */
interface Taken {
  endsAt: number
  /** Since when its owner has them, in µs. */
  readonly sinceUs: number
  /** Those that the owner has; fewer than its name says if some were taken away by their ids. */
  readonly ids: readonly string[]
}

/**
 * What a server has of one semaphore. Moments are in milliseconds, on its clock. Permits whose time ran out stay
 * taken until somebody has to know how many are left, as on a server of Redis.
 */
export class SemaphoreRecord {
  #available: number | null = null
  /** Until when that counts. */
  #endsAt = Infinity
  /** Who has taken permits: as many as the name says, unless some were taken away. */
  readonly #taken = new Map<string, Taken>()
  /** Until when any of that counts. */
  #takenEndsAt = Infinity
  /** Which of the two semaphores has set the number. */
  kind: Exclude<NumberKind, 'latch'> = 'semaphore'
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

  /** The number is gone. @returns whether there was one */
  delete(): boolean {
    const { isSet } = this
    this.#available = null
    this.#endsAt = Infinity
    return isSet
  }

  /** Nobody has any permits. @returns whether somebody had */
  deleteTaken(): boolean {
    const { size } = this.#taken
    this.#taken.clear()
    return size > 0
  }

  /** How many are taken, also of those whose time ran out. */
  get taken(): number {
    let taken = 0
    for (const { ids } of this.#taken.values()) taken += ids.length
    return taken
  }

  /** Who has taken permits, the first who is to give them back before the others. */
  get takers(): readonly (readonly [owner: string, taken: Readonly<Taken>])[] {
    return [...this.#taken].sort(([, a], [, b]) => a.endsAt - b.endsAt)
  }

  /** When the first of those that are taken is to come back; Infinity where none is. */
  get firstEndsAt(): number {
    let first = Infinity
    for (const { endsAt } of this.#taken.values()) first = Math.min(first, endsAt)
    return first
  }

  /** Whether that owner has any of its permits. */
  has(owner: string): boolean {
    return this.#taken.has(owner)
  }

  /** Until when that owner has what it has taken; undefined where it has not all of it. */
  takenUntil(owner: string): number | undefined {
    const taken = this.#taken.get(owner)
    return taken?.ids.length === permitsOf(owner) ? taken.endsAt : undefined
  }

  /** Takes what the owner's name says. */
  take(owner: string, endsAt: number, sinceUs: number): void {
    this.#taken.set(owner, { endsAt, sinceUs, ids: permitIds(owner) })
    this.add(-permitsOf(owner))
    if (this.#endsAt !== Infinity) this.#takenEndsAt = this.#endsAt
  }

  /** The owner has them until then at least; never for less time. */
  lengthen(owner: string, endsAt: number): void {
    const taken = this.#taken.get(owner)
    if (taken !== undefined) taken.endsAt = Math.max(taken.endsAt, endsAt)
  }

  /** What the owner has taken is available. @returns whether it had all of it */
  giveBack(owner: string): boolean {
    const taken = this.#taken.get(owner)
    if (taken === undefined) return false
    this.#taken.delete(owner)
    this.add(taken.ids.length)
    return taken.ids.length === permitsOf(owner)
  }

  /** Gives back those permits. @returns how many of them were taken until now */
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

  /** Gives back the permits whose time is up. */
  giveBackExpired(now: number): void {
    for (const [owner, { endsAt }] of this.#taken) if (endsAt <= now) this.giveBack(owner)
  }
}
