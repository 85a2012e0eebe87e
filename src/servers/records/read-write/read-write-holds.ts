import { isUpgradable, isWriter } from '../../owner-id.ts'
import { READ_WRITE } from '../../read-write-server.ts'
import type { Remaining } from '../../remaining.ts'
import { LOCK_WORDS } from '../../server-kind.ts'
import { leftMs } from '../moments.ts'
import type { OpenRecord, RecordPart } from '../open-record.ts'
import { sizeOf } from '../plain-data.ts'
import {
  expireQueue,
  newReadWriteQueue,
  queueUntilMs,
  type ReadWriteQueue,
} from './read-write-queue.ts'

interface ReadWriteHold {
  holds: number
  /** When a reader's lease ends. A writer has the lease of the whole lock instead. */
  endsAt: number
  readonly beganAt: number
}

/**
 * The holders of one read-write lock, and the waiting clients. Times are in ms of the server's
 * time. As in Redis, expired readers are removed only when a request needs the number of readers.
 */
export interface ReadWriteHolds {
  /** How owners hold the lock; null if the lock is free. */
  mode: 'read' | 'write' | null
  /**
   * When the lease of the whole lock ends. After this time no hold exists. 0 if the lock is free.
   */
  endsAt: number
  byOwner: { [owner: string]: ReadWriteHold }
  readonly queue: ReadWriteQueue
}

const WHAT = READ_WRITE.what

export const READ_WRITE_PART: RecordPart<ReadWriteHolds> = {
  name: 'read-write',
  newState: () => ({ mode: null, endsAt: 0, byOwner: {}, queue: newReadWriteQueue() }),
  expire(holds, now) {
    if (now > holds.endsAt) freeAll(holds)
    expireQueue(holds.queue, now)
  },
  untilMs: ({ endsAt, queue }) => Math.max(endsAt, queueUntilMs(queue)),
  use: ({ mode, endsAt }) => (mode === null ? undefined : { what: WHAT, untilMs: endsAt }),
}

/**
 * Returns the read-write lock of a name. Throws if another kind uses the name.
 *
 * @param admitsLocks if true, a plain lock of this name counts as a free read-write lock
 */
export function readWriteOf(record: OpenRecord, admitsLocks = false): ReadWriteHolds {
  if (record.what === LOCK_WORDS && !admitsLocks) {
    throw record.conflict('a lock that is no read-write lock')
  }
  record.refuseOthers(WHAT, LOCK_WORDS)
  return record.part(READ_WRITE_PART)
}

/** Returns the remaining time of the whole lock's lease; `gone` if the lock is free. */
export function lockLeft({ mode, endsAt }: ReadWriteHolds, now: number): Remaining {
  return mode === null ? 'gone' : leftMs(endsAt, now)
}

/** Returns the remaining time of one owner's lease; `gone` if the owner holds nothing. */
export function holdLeft(holds: ReadWriteHolds, owner: string, now: number): Remaining {
  const hold = holds.byOwner[owner]
  if (hold === undefined) return 'gone'
  if (isWriter(owner)) return lockLeft(holds, now)
  return now > hold.endsAt ? 'gone' : leftMs(hold.endsAt, now)
}

/** True if an owner holds the upgradable lock, and its lease has not expired. */
export function hasUpgradable(holds: ReadWriteHolds, now: number): boolean {
  const owners = Object.keys(holds.byOwner)
  return owners.some((owner) => isUpgradable(owner) && holdLeft(holds, owner, now) !== 'gone')
}

/**
 * Adds a hold, or raises its count to `count`. The lease then lasts at least `leaseMs` from now.
 */
export function giveHold(
  holds: ReadWriteHolds,
  { owner, count, leaseMs }: { owner: string; count: number; leaseMs: number },
  now: number,
): void {
  const hold = holds.byOwner[owner] ?? { holds: count, endsAt: 0, beganAt: now }
  hold.holds = Math.max(hold.holds, count)
  holds.byOwner[owner] = hold
  if (isWriter(owner)) holds.mode = 'write'
  else holds.mode ??= 'read'
  lengthenHold(holds, owner, leaseMs, now)
}

/** Lengthens an owner's lease to at least `leaseMs` from now. Does not shorten a longer lease. */
export function lengthenHold(
  holds: ReadWriteHolds,
  owner: string,
  leaseMs: number,
  now: number,
): void {
  const hold = holds.byOwner[owner]
  if (hold === undefined) return
  hold.endsAt = Math.max(hold.endsAt, now + leaseMs)
  holds.endsAt = Math.max(holds.endsAt, now + leaseMs)
}

/**
 * Removes the hold of an owner. If a writer also held the read lock, the lock becomes a read lock.
 */
export function removeHold(holds: ReadWriteHolds, owner: string): void {
  delete holds.byOwner[owner]
  if (sizeOf(holds.byOwner) === 0) freeAll(holds)
  else if (isWriter(owner)) holds.mode = 'read'
}

/**
 * Removes readers with an expired lease. Without a writer, the lease of the whole lock then ends
 * with the longest lease of a reader.
 *
 * @returns the number of owners that still hold the lock
 */
export function dropExpired(holds: ReadWriteHolds, now: number): number {
  let [longest, hasWriter] = [0, false]
  for (const [owner, { endsAt }] of Object.entries(holds.byOwner)) {
    if (isWriter(owner)) hasWriter = true
    else if (now > endsAt) delete holds.byOwner[owner]
    else longest = Math.max(longest, endsAt)
  }
  const size = sizeOf(holds.byOwner)
  if (size === 0) freeAll(holds)
  else if (!hasWriter) holds.endsAt = Math.min(holds.endsAt, longest)
  return size
}

/** Removes all holds. The waiting clients stay. */
export function freeAll(holds: ReadWriteHolds): void {
  Object.assign(holds, { mode: null, endsAt: 0, byOwner: {} })
}
