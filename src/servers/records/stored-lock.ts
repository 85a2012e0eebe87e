import type { Held } from '../answers.ts'
import type { HolderFacts } from '../facts.ts'
import { RELEASED } from '../hint.ts'
import { READ_WRITE } from '../read-write-server.ts'
import { FOREVER } from '../record-store.ts'
import { endsInMs, type Remaining, shownTtlMs } from '../remaining.ts'
import { LOCK_WORDS } from '../server-kind.ts'
import { extendCounter, lastToken, type TokenTerms } from './counter.ts'
import { otherListeners, publishHint } from './hint-messages.ts'
import { expireLockQueue, type LockQueue, lockQueueUntilMs, newLockQueue } from './lock-queue.ts'
import { ageMs, leftMs } from './moments.ts'
import type { OpenRecord, RecordPart } from './open-record.ts'

interface LockHolder {
  readonly owner: string
  holds: number
  /** When the lease ends, in milliseconds of the server's time. Holdfast always sets an end. */
  endsAt: number
}

/** The holder of one lock, and the waiters of the fair lock of the same name. */
interface StoredLock {
  holder: LockHolder | null
  readonly queue: LockQueue
}

const WHAT = LOCK_WORDS

export const LOCK_PART: RecordPart<StoredLock> = {
  name: 'lock',
  newState: () => ({ holder: null, queue: newLockQueue() }),
  expire(lock, now) {
    if (lock.holder !== null && now > lock.holder.endsAt) lock.holder = null
    expireLockQueue(lock.queue, now)
  },
  untilMs: ({ holder, queue }) => Math.max(holder?.endsAt ?? 0, lockQueueUntilMs(queue)),
  use: ({ holder }) => (holder === null ? undefined : { what: WHAT, untilMs: holder.endsAt }),
}

/** Returns the lock of a name. Throws if another kind uses the name. */
export function lockOf(record: OpenRecord): StoredLock {
  record.refuseOthers(WHAT)
  return record.part(LOCK_PART)
}

/**
 * Returns the lock of a name for a release. If a read-write lock uses the name, returns a free
 * lock, so the release answers `gone`.
 */
export function lockToRelease(record: OpenRecord): StoredLock {
  record.refuseOthers(WHAT, READ_WRITE.what)
  return record.part(LOCK_PART)
}

/** The channel of the messages about releases. */
export const lockChannel = (rawName: string) => `lock ${rawName}`

/** Returns the holder if this owner is the holder; otherwise null. */
export function heldBy({ holder }: StoredLock, owner: string): LockHolder | null {
  return holder?.owner === owner ? holder : null
}

/** Returns the remaining time of the lease; `gone` if the lock is free. */
export function lockLeft({ holder }: StoredLock, now: number): Remaining {
  return holder === null ? 'gone' : leftMs(holder.endsAt, now)
}

export function giveLock(record: OpenRecord, owner: string, leaseMs: number): void {
  record.part(LOCK_PART).holder = { owner, holds: 1, endsAt: record.nowMs + leaseMs }
}

/**
 * Lengthens the holder's lease to at least `leaseMs` from now. Does not shorten a longer lease. An
 * endless lease gets an end.
 */
export function lengthenLock(record: OpenRecord, terms: TokenTerms): void {
  const { holder } = record.part(LOCK_PART)
  if (holder === null) return
  if (holder.endsAt !== FOREVER && leftMs(holder.endsAt, record.nowMs) >= terms.leaseMs) return
  holder.endsAt = record.nowMs + terms.leaseMs
  extendCounter(record, terms)
}

/**
 * Frees the lock, and sends a message to the listeners.
 *
 * @returns how many other clients receive the message; undefined if unknown
 */
export function freeLock(record: OpenRecord, listens?: boolean): number | undefined {
  record.part(LOCK_PART).holder = null
  publishHint(record, lockChannel(record.rawName), RELEASED)
  return otherListeners(record, lockChannel(record.rawName), listens)
}

/**
 * Returns how long the holder has held the lock, in milliseconds; null if unknown. This is the age
 * of the last token, because a token is the time of its grant.
 */
export function holdAgeMs(record: OpenRecord): number | null {
  const token = lastToken(record)
  return token === 0 ? null : ageMs(token, record.nowMs)
}

/** Returns the refusal, with the holder. */
export function heldAnswer(record: OpenRecord): Held {
  const lock = record.part(LOCK_PART)
  return {
    kind: 'held',
    ttlMs: endsInMs(lockLeft(lock, record.nowMs)),
    holder: lock.holder?.owner ?? '',
    ageMs: holdAgeMs(record),
  }
}

export function holderFacts(record: OpenRecord): HolderFacts {
  const lock = lockOf(record)
  return {
    holder: lock.holder?.owner ?? null,
    holdCount: lock.holder?.holds ?? 0,
    ttlMs: shownTtlMs(lockLeft(lock, record.nowMs)),
    token: lastToken(record) || null,
  }
}
