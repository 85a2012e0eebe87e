import { isUpgradable, isWriter } from '../../read-write-server.ts'
import { leftMs } from './moments.ts'
import { WaitingRecord } from './waiting-record.ts'

/** The hold of one owner. */
interface ReadWriteHold {
  holds: number
  /**
   * The end of a reader's lease. Unused for a writer, whose lease is the lease of the whole lock.
   */
  endsAt: number
  readonly beganAt: number
}

/**
 * The readers or the writer, and the clients that wait. Moments are in milliseconds, on the
 * server's clock. Expired readers stay until a request needs the number of readers, as in Redis.
 */
export class ReadWriteRecord {
  /** How the lock is held; null when it is free. */
  mode: 'read' | 'write' | null = null
  /** The end of the lease of the whole lock. No hold counts after this time. */
  endsAt = -Infinity
  readonly #holds = new Map<string, ReadWriteHold>()
  readonly waiting = new WaitingRecord()

  /** Forgets all that has expired. */
  expire(now: number): void {
    if (now > this.endsAt) this.free()
    this.waiting.expire(now)
  }

  get isForgotten(): boolean {
    return this.mode === null && this.waiting.isForgotten
  }

  /** How many owners hold it, including expired readers. */
  get size(): number {
    return this.#holds.size
  }

  get owners(): string[] {
    return [...this.#holds.keys()]
  }

  heldBy(owner: string): ReadWriteHold | null {
    return this.#holds.get(owner) ?? null
  }

  /**
   * The remaining time of the lease of the whole lock in milliseconds; -1 without an expiry, -2 if
   * the lock is free.
   */
  ttlMs(now: number): number {
    return this.mode === null ? -2 : leftMs(this.endsAt, now)
  }

  /**
   * The remaining time of one owner's lease in milliseconds; -2 if the lease has expired or does
   * not exist.
   */
  ttlMsOf(owner: string, now: number): number {
    const hold = this.heldBy(owner)
    if (hold === null) return -2
    if (isWriter(owner)) return this.ttlMs(now)
    return now > hold.endsAt ? -2 : leftMs(hold.endsAt, now)
  }

  /** True if a reader holds the upgradable lock. */
  hasUpgradable(now: number): boolean {
    return this.owners.some((owner) => isUpgradable(owner) && this.ttlMsOf(owner, now) !== -2)
  }

  /** Adds a hold or raises its count, and makes the lease last at least this long. */
  give(owner: string, holds: number, leaseMs: number, now: number): void {
    const hold = this.heldBy(owner) ?? { holds, endsAt: -Infinity, beganAt: now }
    hold.holds = Math.max(hold.holds, holds)
    this.#holds.set(owner, hold)
    if (isWriter(owner)) this.mode = 'write'
    else this.mode ??= 'read'
    this.lengthen(owner, leaseMs, now)
  }

  /** Makes a lease last at least this long; never shortens it. */
  lengthen(owner: string, leaseMs: number, now: number): void {
    const hold = this.heldBy(owner)
    if (hold === null) return
    hold.endsAt = Math.max(hold.endsAt, now + leaseMs)
    this.endsAt = Math.max(this.endsAt, now + leaseMs)
  }

  /**
   * Removes the hold of that owner. If the owner wrote and other holds are left, the lock becomes a
   * read lock.
   */
  remove(owner: string): void {
    this.#holds.delete(owner)
    if (this.size === 0) this.free()
    else if (isWriter(owner)) this.mode = 'read'
  }

  /** Removes expired readers. @returns how many owners hold the lock then */
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

  /** Removes all holds. */
  free(): void {
    this.mode = null
    this.endsAt = -Infinity
    this.#holds.clear()
  }
}
