import { isUpgradable, isWriter } from '../../read-write-server.ts'
import { leftMs } from './moments.ts'
import { WaitingRecord } from './waiting-record.ts'

/** What somebody has of the lock. */
interface ReadWriteHold {
  holds: number
  /** Of one who reads; the lease of one who writes is that of the whole lock. */
  endsAt: number
  /** Since when. */
  readonly beganAt: number
}

/**
 * Who reads or writes, and which clients wait for that. Moments are in milliseconds, on the server's
 * clock. Readers whose time ran out stay until somebody has to know who is left, as on a server of Redis.
 */
export class ReadWriteRecord {
  /** How it is held; null when it is free. */
  mode: 'read' | 'write' | null = null
  /** Until when anything of that counts. */
  endsAt = -Infinity
  readonly #holds = new Map<string, ReadWriteHold>()
  readonly waiting = new WaitingRecord()

  /** Forgets what has run out. */
  expire(now: number): void {
    if (now > this.endsAt) this.free()
    this.waiting.expire(now)
  }

  get isForgotten(): boolean {
    return this.mode === null && this.waiting.isForgotten
  }

  /** How many have it, also of those whose time ran out. */
  get size(): number {
    return this.#holds.size
  }

  get owners(): string[] {
    return [...this.#holds.keys()]
  }

  heldBy(owner: string): ReadWriteHold | null {
    return this.#holds.get(owner) ?? null
  }

  /** What is left of all of it in milliseconds; -1 without an expiry, -2 when it is free. */
  ttlMs(now: number): number {
    return this.mode === null ? -2 : leftMs(this.endsAt, now)
  }

  /** The same of one lease; -2 when its time ran out, or there is none. */
  ttlMsOf(owner: string, now: number): number {
    const hold = this.heldBy(owner)
    if (hold === null) return -2
    if (isWriter(owner)) return this.ttlMs(now)
    return now > hold.endsAt ? -2 : leftMs(hold.endsAt, now)
  }

  /** Whether somebody reads who may go on to write. */
  hasUpgradable(now: number): boolean {
    return this.owners.some((owner) => isUpgradable(owner) && this.ttlMsOf(owner, now) !== -2)
  }

  /** Takes it, or raises the hold count; makes the lease last at least this long. */
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

  /** That owner has it no more. Who wrote leaves it to those who read as well. */
  remove(owner: string): void {
    this.#holds.delete(owner)
    if (this.size === 0) this.free()
    else if (isWriter(owner)) this.mode = 'read'
  }

  /** Takes out readers whose time ran out. @returns how many have the lock then */
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

  /** Nobody has it any more. */
  free(): void {
    this.mode = null
    this.endsAt = -Infinity
    this.#holds.clear()
  }
}
