import { setTimeout as pause } from 'node:timers/promises'
import { viewOf } from '../kinds/all.ts'
import type { HolderRow, Inspection, LockDetail, LockRow } from './inspection.ts'
import { readsOf } from './renewals.ts'

/** The kind of a leak. A code keeps its meaning in later releases. */
export type LeakCode =
  | 'lock-without-ttl'
  | 'key-without-ttl'
  | 'holder-not-renewed'
  | 'queue-of-free-lock'

export interface Leak {
  readonly code: LeakCode
  /** The key of the lock. For `key-without-ttl`, the key that has no TTL. */
  readonly key: string
  /**
   * The owner id of the holder. For `queue-of-free-lock`, the first live waiter. Null for
   * `key-without-ttl`.
   */
  readonly owner: string | null
  /**
   * The remaining time of the lease of the holder, in milliseconds. Null if the hold never expires,
   * and without a holder.
   */
  readonly ttlMs: number | null
  /** The lock. Null for `key-without-ttl`. */
  readonly lock: LockDetail | null
  /**
   * For `key-without-ttl`, commands that give the key a TTL, and remarks that begin with `#`.
   * Otherwise empty.
   */
  readonly fix: readonly string[]
}

interface LeakTerms {
  /**
   * The option `leaseMs` of the clients, in milliseconds. The watchdog renews a lease every third
   * of this time.
   */
  readonly leaseMs: number
  readonly pattern?: string
  /**
   * Called before the pause between the two reads, with the length of the pause in milliseconds and
   * the number of suspect locks.
   */
  readonly onPause?: (waitMs: number, locks: number) => void
}

/** If a lock is free, its first live waiter sends a request within this time, in milliseconds. */
const PLACE_MS = 7_000
/** A renewal may be late by this time, in milliseconds. */
const LATE_MS = 1_000

interface SuspectLock {
  readonly lock: LockDetail
  readonly at: number
}

/**
 * Yields leaks. Reads suspect locks again after a pause, and yields their leaks last.
 *
 * @returns the number of holders of unknown processes that were not checked, because their leases
 * last longer than `leaseMs`
 */
export async function* findLeaks(
  inspection: Inspection,
  { leaseMs, pattern, onPause }: LeakTerms,
): AsyncGenerator<Leak, number> {
  const suspects: SuspectLock[] = []
  let longer = 0
  for await (const rows of inspection.list(pattern === undefined ? {} : { pattern })) {
    for (const row of rows) {
      for (const holder of row.holders.filter(isEndless))
        yield ofHolder('lock-without-ttl', row, holder)
      const unknown = row.holders.filter(isUnknown)
      longer += unknown.filter(({ ttlMs }) => (ttlMs ?? 0) > leaseMs).length
      if (!unknown.some(({ ttlMs }) => (ttlMs ?? 0) <= leaseMs) && row.waiting === 0) continue
      const lock = await inspection.inspect(row.key)
      // Takes the time after the first read. If the read was slow, an earlier time would make the
      // lease seem renewed.
      const at = performance.now()
      if (lock !== null && isSuspect(lock, leaseMs)) suspects.push({ lock, at })
    }
  }
  if (pattern === undefined) {
    for await (const endless of inspection.listEndless()) {
      yield { code: 'key-without-ttl', owner: null, ttlMs: null, lock: null, ...endless }
    }
  }
  if (suspects.length === 0) return longer
  const isOfQueues = suspects.some(({ lock }) => lock.queue.length > 0)
  const waitMs = Math.max(leaseMs / 3 + LATE_MS, isOfQueues ? PLACE_MS : 0)
  onPause?.(waitMs, suspects.length)
  await pause(waitMs)
  for (const { lock, at } of suspects) {
    const elapsedMs = performance.now() - at
    const second = await inspection.inspect(lock.key)
    if (second !== null) yield* confirmed(lock, second, elapsedMs, leaseMs)
  }
  return longer
}

const isEndless = ({ ttlMs }: HolderRow): boolean => ttlMs === null

/**
 * True if the process of the holder is unknown, although Holdfast clients report their processes.
 * False for Redisson, which never reports. Also false for a hold without an expiry, which is
 * another leak.
 */
const isUnknown = ({ process, isRedisson, ttlMs }: HolderRow): boolean =>
  process === null && !isRedisson && ttlMs !== null

const isJudged = ({ kind }: LockRow): boolean => viewOf(kind).leaks === true

function isSuspect(lock: LockDetail, leaseMs: number): boolean {
  const holds =
    isJudged(lock) && lock.holders.some((one) => isUnknown(one) && (one.ttlMs ?? 0) <= leaseMs)
  return holds || isQueueOfFree(lock)
}

const isQueueOfFree = (lock: LockDetail): boolean =>
  isJudged(lock) && lock.state === 'free' && lock.queue.some(({ isDead }) => !isDead)

/** Yields the leaks that both reads show. */
function* confirmed(
  first: LockDetail,
  second: LockDetail,
  elapsedMs: number,
  leaseMs: number,
): Generator<Leak> {
  if (isJudged(second)) {
    for (const { owner, renewal } of readsOf(first, second, elapsedMs)) {
      const holder = second.holders.find((one) => one.owner === owner) as HolderRow
      const before = first.holders.find((one) => one.owner === owner)
      const isLeak =
        renewal === 'not-renewed' && isUnknown(holder) && (before?.ttlMs ?? 0) <= leaseMs
      if (isLeak) yield ofHolder('holder-not-renewed', second, holder)
    }
  }
  const [head] = second.queue.filter(({ isDead }) => !isDead)
  const stood = first.queue.some(({ owner }) => owner === head?.owner)
  if (isQueueOfFree(first) && isQueueOfFree(second) && first.token === second.token && stood) {
    yield {
      code: 'queue-of-free-lock',
      key: second.key,
      owner: head?.owner ?? null,
      ttlMs: null,
      lock: second,
      fix: [],
    }
  }
}

function ofHolder(code: LeakCode, row: LockRow, { owner, ttlMs }: HolderRow): Leak {
  return { code, key: row.key, owner, ttlMs, lock: { queue: [], votes: null, ...row }, fix: [] }
}
