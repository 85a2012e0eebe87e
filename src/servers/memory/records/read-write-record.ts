import { isUpgradable, isWriter } from '../../read-write-server.ts'
import { leftMs } from '../../records/moments.ts'
import type { Remaining } from '../../remaining.ts'
import { WaitingRecord } from './waiting-record.ts'

/** The hold of one owner. */
interface ReadWriteHold {
  holds: number
  /** When a reader's lease ends. A writer has the lease of the whole lock instead. */
  endsAt: number
  readonly beganAt: number
}

/**
 * The holders of one read-write lock, and the waiting clients. Times are in milliseconds of the
 * server's time. As in Redis, expired readers are removed only when a request needs the number of
 * readers.
 */
export class ReadWriteRecord {
  /** How owners hold the lock; null if the lock is free. */
  mode: 'read' | 'write' | null = null
  /** When the lease of the whole lock ends. Later no hold exists; -Infinity if the lock is free. */
  endsAt = -Infinity
  readonly #holds = new Map<string, ReadWriteHold>()
  readonly waiting = new WaitingRecord()

  /** Deletes all parts that have expired. */
  expire(now: number): void {
    if (now > this.endsAt) this.free()
    this.waiting.expire(now)
  }

  get isForgotten(): boolean {
    return this.mode === null && this.waiting.isForgotten
  }

  /**
   * The number of owners that hold the lock. Readers with an expired lease count until they are
   * removed.
   */
  get size(): number {
    return this.#holds.size
  }

  get owners(): string[] {
    return [...this.#holds.keys()]
  }

  heldBy(owner: string): ReadWriteHold | null {
    return this.#holds.get(owner) ?? null
  }

  /** Returns the remaining time of the whole lock's lease; `gone` if the lock is free. */
  ttlMs(now: number): Remaining {
    return this.mode === null ? 'gone' : leftMs(this.endsAt, now)
  }

  /** Returns the remaining time of one owner's lease; `gone` if the owner holds nothing. */
  ttlMsOf(owner: string, now: number): Remaining {
    const hold = this.heldBy(owner)
    if (hold === null) return 'gone'
    if (isWriter(owner)) return this.ttlMs(now)
    return now > hold.endsAt ? 'gone' : leftMs(hold.endsAt, now)
  }

  /** True if an owner holds the upgradable lock, and its lease has not expired. */
  hasUpgradable(now: number): boolean {
    return this.owners.some((owner) => isUpgradable(owner) && this.ttlMsOf(owner, now) !== 'gone')
  }

  /**
   * Adds a hold, or raises its count to `holds`. The lease then lasts at least `leaseMs` from now.
   */
  give(owner: string, holds: number, leaseMs: number, now: number): void {
    const hold = this.heldBy(owner) ?? { holds, endsAt: -Infinity, beganAt: now }
    hold.holds = Math.max(hold.holds, holds)
    this.#holds.set(owner, hold)
    if (isWriter(owner)) this.mode = 'write'
    else this.mode ??= 'read'
    this.lengthen(owner, leaseMs, now)
  }

  /**
   * Lengthens an owner's lease to at least `leaseMs` from now. A longer lease stays as long as it
   * is.
   */
  lengthen(owner: string, leaseMs: number, now: number): void {
    const hold = this.heldBy(owner)
    if (hold === null) return
    hold.endsAt = Math.max(hold.endsAt, now + leaseMs)
    this.endsAt = Math.max(this.endsAt, now + leaseMs)
  }

  /**
   * Removes the hold of an owner. If a writer also held the read lock, the lock becomes a read
   * lock.
   */
  remove(owner: string): void {
    this.#holds.delete(owner)
    if (this.size === 0) this.free()
    else if (isWriter(owner)) this.mode = 'read'
  }

  /**
   * Removes readers with an expired lease. Without a writer, the lock then ends with the longest
   * lease of the readers.
   *
   * @returns the number of owners that hold the lock then
   */
  dropDead(now: number): number {
    let [longest, hasWriter] = [-Infinity, false]
    for (const [owner, { endsAt }] of this.#holds) {
      if (isWriter(owner)) hasWriter = true
      else if (now > endsAt) this.#holds.delete(owner)
      else longest = Math.max(longest, endsAt)
    }
    if (this.size === 0) this.free()
    else if (!hasWriter) this.endsAt = Math.min(this.endsAt, longest)
    return this.size
  }

  /** Removes all holds. The waiting clients stay. */
  free(): void {
    this.mode = null
    this.endsAt = -Infinity
    this.#holds.clear()
  }
}
