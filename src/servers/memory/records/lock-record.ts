import { clientOf, type QueueEntry } from '../../answers.ts'
import { FOREVER, type NameRecord } from '../../record-store.ts'
import { COUNTER, type TokenCounter } from '../../records/counter.ts'
import { leftMs, timeUs } from '../../records/moments.ts'
import type { Remaining } from '../../remaining.ts'
import { QueueRecord } from './queue-record.ts'
import { ReadWriteRecord } from './read-write-record.ts'

/** The use of a name by a part that is no plain data. */
export const OTHERS = 'others'

interface HolderRecord {
  readonly owner: string
  holds: number
  /**
   * When the lease ends, in milliseconds of the server's time; `FOREVER` means never. Holdfast
   * itself always sets an end.
   */
  endsAt: number
}

/**
 * The state of one name on a server: a lock, a read-write lock, a latch or a semaphore. Times are
 * in milliseconds of the server's time.
 */
export class LockRecord {
  readonly rawName: string
  holder: HolderRecord | null = null
  #queue: QueueRecord | undefined
  #readWrite: ReadWriteRecord | undefined
  /** The parts that are plain data. */
  readonly plain: NameRecord = { parts: {} }

  /**
   * The last token that was issued, and until when the server remembers it; null if the server
   * remembers no token.
   */
  get counter(): TokenCounter | null {
    return (this.plain.parts[COUNTER.name]?.state as TokenCounter | undefined) ?? null
  }

  set counter(counter: TokenCounter | null) {
    if (counter === null) delete this.plain.parts[COUNTER.name]
    else this.plain.parts[COUNTER.name] = { untilMs: counter.endsAt, state: counter }
  }

  constructor(rawName: string) {
    this.rawName = rawName
  }

  get queue(): QueueRecord {
    this.#queue ??= new QueueRecord()
    return this.#queue
  }

  /** The part of the state that a read-write lock uses. */
  get readWrite(): ReadWriteRecord {
    this.#readWrite ??= new ReadWriteRecord()
    return this.#readWrite
  }

  /** True if an owner holds the read-write lock of this name. */
  get isReadWrite(): boolean {
    return this.#readWrite !== undefined && this.#readWrite.mode !== null
  }

  /** The words for the kind whose plain part uses the name. Undefined if no such kind uses it. */
  get userOfName(): string | undefined {
    const { use } = this.plain
    return use?.part === OTHERS ? undefined : use?.what
  }

  /** Deletes all parts of the state that have expired. */
  expire(now: number): void {
    if (this.holder !== null && now > this.holder.endsAt) this.holder = null
    this.#queue?.expire(now)
    this.#readWrite?.expire(now)
    const { plain } = this
    for (const [name, { untilMs }] of Object.entries(plain.parts)) {
      if (untilMs < now) delete plain.parts[name]
    }
    if (plain.use !== undefined && plain.use.untilMs < now) delete plain.use
  }

  get isForgotten(): boolean {
    if (this.holder !== null) return false
    if (Object.keys(this.plain.parts).length > 0) return false
    const parts = [this.#queue, this.#readWrite]
    return parts.every((part) => part?.isForgotten ?? true)
  }

  heldBy(owner: string): HolderRecord | null {
    return this.holder?.owner === owner ? this.holder : null
  }

  /** Returns the remaining time of the lease; `gone` if the lock is free. */
  ttlMs(now: number): Remaining {
    return this.holder === null ? 'gone' : leftMs(this.holder.endsAt, now)
  }

  /** The last token that was issued; 0 if the server remembers no token. */
  get lastToken(): number {
    return this.counter?.token ?? 0
  }

  give(owner: string, endsAt: number): void {
    this.holder = { owner, holds: 1, endsAt }
  }

  /**
   * Lengthens the holder's lease to at least `leaseMs` from now. A longer lease stays as long as it
   * is.
   */
  lengthen(leaseMs: number, counterMs: number, now: number): void {
    const { holder } = this
    if (holder === null) return
    if (holder.endsAt !== FOREVER && leftMs(holder.endsAt, now) >= leaseMs) return
    holder.endsAt = now + leaseMs
    this.extendCounter(leaseMs, counterMs, now)
  }

  /**
   * Stores the last token for at least `counterMs` and `leaseMs`, and until the clock has passed
   * the token. Later the clock itself gives higher tokens. A `counterMs` of 0 stores the token
   * forever.
   */
  setCounter(token: number, leaseMs: number, counterMs: number, now: number): void {
    const aheadMs = Math.max(0, (token - timeUs(now)) / 1_000)
    const keptMs = Math.max(counterMs, leaseMs) + aheadMs
    this.counter = { token, endsAt: counterMs === 0 ? FOREVER : now + keptMs }
  }

  /** Called when a lease is renewed. Remembers the last token for longer. */
  extendCounter(leaseMs: number, counterMs: number, now: number): void {
    const { counter } = this
    if (counter === null || counterMs === 0) return
    const endsAt = Math.max(counter.endsAt, now + Math.max(counterMs, leaseMs))
    this.counter = { ...counter, endsAt }
  }

  /** @param most the largest number of waiters to list */
  queueEntries(now: number, most: number): QueueEntry[] {
    return this.queue.head(most).map(({ owner, ticket }) => {
      const mark = this.queue.mark(clientOf(owner))
      const isAlive = mark !== undefined && mark.untilMs >= now
      const waitedMs = Math.max(0, Math.round((timeUs(now) - ticket) / 1_000))
      return { owner, process: isAlive ? mark.label : null, waitedMs }
    })
  }
}
