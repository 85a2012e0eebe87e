import { clientOf, type QueueEntry } from '../../answers.ts'
import type { NumberKind } from '../../number-kind.ts'
import type { KindRecord } from '../../server-kind.ts'
import { leftMs, timeUs } from './moments.ts'
import { QueueRecord } from './queue-record.ts'
import { ReadWriteRecord } from './read-write-record.ts'
import { SemaphoreRecord } from './semaphore-record.ts'

interface Holder {
  readonly owner: string
  holds: number
  /** The end of the lease; Infinity if the lease has no expiry. Holdfast always sets an expiry. */
  endsAt: number
}

/** The state of one lock on a server. Moments are in milliseconds, on the server's clock. */
export class LockRecord {
  readonly rawName: string
  holder: Holder | null = null
  /** The last token that was issued, and until when it is remembered. */
  counter: { readonly token: number; endsAt: number } | null = null
  /**
   * The count-down latch of that name: its count, its round, and when it was set. Null if it is
   * open.
   */
  latch: { count: number; readonly round: number; readonly setAt: number } | null = null
  #queue: QueueRecord | undefined
  #readWrite: ReadWriteRecord | undefined
  #semaphore: SemaphoreRecord | undefined
  /** The state as other kinds, by the words for a name that the kind uses. */
  readonly #parts = new Map<string, KindRecord>()

  constructor(rawName: string) {
    this.rawName = rawName
  }

  get queue(): QueueRecord {
    this.#queue ??= new QueueRecord()
    return this.#queue
  }

  /** The state as a read-write lock, while no owner holds the name as another kind. */
  get readWrite(): ReadWriteRecord {
    this.#readWrite ??= new ReadWriteRecord()
    return this.#readWrite
  }

  /** True if a read-write lock of this name is held. */
  get isReadWrite(): boolean {
    return this.#readWrite !== undefined && this.#readWrite.mode !== null
  }

  /** The state as a semaphore, while no owner holds the name as a lock. */
  get semaphore(): SemaphoreRecord {
    this.#semaphore ??= new SemaphoreRecord()
    return this.#semaphore
  }

  /** The kind that has set a number under this name; null if there is no number. */
  get numberKind(): NumberKind | null {
    if (this.latch !== null) return 'latch'
    return this.#semaphore?.isSet ? this.#semaphore.kind : null
  }

  /** The state as another kind. */
  partOf<S extends KindRecord>(what: string, newRecord: () => S): S {
    const part = this.#parts.get(what) ?? newRecord()
    this.#parts.set(what, part)
    return part as S
  }

  /** The words for the kind of `partOf` that uses the name; undefined if no such kind uses it. */
  get userOfName(): string | undefined {
    return [...this.#parts].find(([, part]) => part.usesName)?.[0]
  }

  /** Forgets all that has expired. */
  expire(now: number): void {
    if (this.holder !== null && now > this.holder.endsAt) this.holder = null
    if (this.counter !== null && now > this.counter.endsAt) this.counter = null
    this.#queue?.expire(now)
    this.#readWrite?.expire(now)
    this.#semaphore?.expire(now)
    for (const part of this.#parts.values()) part.expire(now)
  }

  get isForgotten(): boolean {
    if (this.holder !== null || this.counter !== null || this.latch !== null) return false
    const parts = [this.#queue, this.#readWrite, this.#semaphore, ...this.#parts.values()]
    return parts.every((part) => part?.isForgotten ?? true)
  }

  heldBy(owner: string): Holder | null {
    return this.holder?.owner === owner ? this.holder : null
  }

  /**
   * The remaining time of the lease in milliseconds; -1 without an expiry, -2 if the lock is free.
   */
  ttlMs(now: number): number {
    return this.holder === null ? -2 : leftMs(this.holder.endsAt, now)
  }

  /** The last token; 0 if none is remembered. */
  get lastToken(): number {
    return this.counter?.token ?? 0
  }

  give(owner: string, endsAt: number): void {
    this.holder = { owner, holds: 1, endsAt }
  }

  /** Makes the lease of the holder last at least this long; never shortens it. */
  lengthen(leaseMs: number, counterMs: number, now: number): void {
    const { holder } = this
    if (holder === null || leftMs(holder.endsAt, now) >= leaseMs) return
    holder.endsAt = now + leaseMs
    this.keepCounter(leaseMs, counterMs, now)
  }

  /**
   * Stores the last token. It is kept at least as long as the lease, and until the clock has passed
   * its value. From then on the clock gives higher tokens.
   */
  setCounter(token: number, leaseMs: number, counterMs: number, now: number): void {
    const aheadMs = Math.max(0, (token - timeUs(now)) / 1_000)
    const keptMs = Math.max(counterMs, leaseMs) + aheadMs
    this.counter = { token, endsAt: counterMs === 0 ? Infinity : now + keptMs }
  }

  /** Called when a lease is renewed: keeps the last token for longer too. */
  keepCounter(leaseMs: number, counterMs: number, now: number): void {
    const { counter } = this
    if (counter === null || counterMs === 0 || counter.endsAt === Infinity) return
    counter.endsAt = Math.max(counter.endsAt, now + Math.max(counterMs, leaseMs))
  }

  /** @param most how many waiters are listed at most */
  queueEntries(now: number, most: number): QueueEntry[] {
    return this.queue.head(most).map(({ owner, ticket }) => {
      const mark = this.queue.mark(clientOf(owner))
      const isAlive = mark !== undefined && mark.untilMs >= now
      const waitedMs = Math.max(0, Math.round((timeUs(now) - ticket) / 1_000))
      return { owner, process: isAlive ? mark.label : null, waitedMs }
    })
  }
}
