import type { HolderRow, LockDetail, LockRow, WaiterRow } from '../../inspection/inspection.ts'
import { labelIn } from '../../inspection/owner-ids.ts'
import { viewOf } from '../../kinds/all.ts'
import { type JobRuns, jobRunsOf } from './job-runs.ts'

/** The most holders in a row of the table. The detail of the lock may have more holders. */
const HOLDERS_OF_ROW = 3

/** The most holders in a detail. Further holders are only counted. */
const HOLDERS_OF_DETAIL = 200
/** The most waiters in a detail. Further waiters are only counted. */
const WAITERS_OF_DETAIL = 200

/**
 * Moments that differ by less than this, in milliseconds, count as the same. A look takes time, so
 * two looks compute the same moment with a small difference.
 */
const SAME_MOMENT_MS = 1_000

/**
 * One holder. All times except `leaseMs` are moments in milliseconds since 1970, by the clock of
 * the dashboard. Unlike durations, moments do not change with time. So the row is sent again only
 * after a real change.
 */
export interface RowHolder {
  readonly owner: string
  /** The label of the candidate or of the client. Null if unknown. */
  readonly label: string | null
  readonly host: string | null
  readonly pid: number | null
  readonly isRedisson: boolean
  readonly holdCount: number
  /** The ids of the holder's permits. Empty for a lock, and in rows of the table. */
  readonly permits: readonly string[]
  /** When the client of the holder last reported itself. Null if unknown. */
  readonly seenAt: number | null
  readonly since: number | null
  /** When the lease ends if no renewal follows. Null if the lease never expires. */
  readonly until: number | null
  /**
   * The estimated length of the lease, in milliseconds: the longest remaining time so far, rounded
   * up to whole seconds. Null if the lease never expires.
   */
  readonly leaseMs: number | null
}

export interface TableRow {
  readonly key: string
  readonly kind: LockRow['kind']
  readonly state: LockRow['state']
  /** The state in words: `held`, `2 of 3 taken`, `closed, 2 to go`. */
  readonly stateText: string
  /** Sentences about a problem of a free lock, such as a run of a job that has failed. Usually null. */
  readonly problem: string | null
  /** At most `HOLDERS_OF_ROW` holders. */
  readonly holders: readonly RowHolder[]
  readonly holderCount: number
  readonly token: number | null
  readonly waiting: number
  readonly waitingSince: number | null
}

export interface RowWaiter {
  readonly owner: string
  readonly label: string | null
  readonly host: string | null
  readonly pid: number | null
  readonly since: number | null
  readonly isDead: boolean
  /**
   * The access that the waiter requests: `read`, `write`, `pass` for a barrier or, for example,
   * `2 permits`. Null for a lock or an election, or if the access is unknown.
   */
  readonly wants: string | null
  /** When the client of the waiter last reported itself. Null if unknown. */
  readonly seenAt: number | null
}

export interface Detail extends TableRow {
  readonly queue: readonly RowWaiter[]
  readonly count: LockDetail['count']
  readonly votes: LockDetail['votes']
  /** The runs of a job. Null for other kinds. */
  readonly job: JobRuns | null
  /** False for a kind without known holders. A lock of such a kind cannot be released by force. */
  readonly hasHolders: boolean
}

/**
 * Makes the row of the table for one lock.
 *
 * @param before the previous row of the lock. A moment that differs by less than `SAME_MOMENT_MS`
 * keeps the previous value
 */
export function rowOf(row: LockRow, now: number, before?: TableRow): TableRow {
  const known = new Map(before?.holders.map((holder) => [holder.owner, holder]))
  return {
    key: row.key,
    kind: row.kind,
    state: row.state,
    stateText: row.stateText,
    problem: row.problem ?? null,
    holders: row.holders
      .slice(0, HOLDERS_OF_ROW)
      // A holder may have thousands of permits, and each change sends the row to all viewers. So
      // the row has no permit ids.
      .map((holder) => ({ ...holderOf(holder, now, known.get(holder.owner)), permits: [] })),
    holderCount: row.holders.length,
    token: row.token,
    waiting: row.waiting,
    waitingSince: moment(now, row.oldestWaitMs, -1, before?.waitingSince),
  }
}

export function detailOf(detail: LockDetail, now: number): Detail {
  return {
    ...rowOf(detail, now),
    holders: detail.holders.slice(0, HOLDERS_OF_DETAIL).map((holder) => holderOf(holder, now)),
    queue: detail.queue.slice(0, WAITERS_OF_DETAIL).map((waiter) => waiterOf(waiter, now)),
    count: detail.count,
    votes: detail.votes,
    job: jobRunsOf(detail.job),
    hasHolders: viewOf(detail.kind).whyNoForce === undefined,
  }
}

/** True if a table with very many rows may omit the row. */
export const mayBeOmitted = ({ state, problem }: TableRow): boolean =>
  state === 'free' && problem === null

function holderOf(holder: HolderRow, now: number, before?: RowHolder): RowHolder {
  const { owner, isRedisson, holdCount, permits } = holder
  const since = moment(now, holder.ageMs, -1, before?.since)
  const until = moment(now, holder.ttlMs, 1, before?.until)
  const seenAt = moment(now, holder.process?.seenMs ?? null, -1, before?.seenAt)
  const leaseMs = leaseOf(holder, before?.since === since ? before.leaseMs : null)
  const process = processOf(holder)
  return { owner, ...process, isRedisson, holdCount, permits, seenAt, since, until, leaseMs }
}

/**
 * Returns the longest remaining time of the lease so far, in milliseconds, rounded up to whole
 * seconds.
 */
function leaseOf({ ttlMs }: HolderRow, before: number | null): number | null {
  if (ttlMs === null) return null
  return Math.max(before ?? 0, 1_000 * Math.ceil(ttlMs / 1_000))
}

function waiterOf(waiter: WaiterRow, now: number): RowWaiter {
  const { owner, isDead, wants } = waiter
  const since = moment(now, waiter.waitedMs, -1)
  const seenAt = moment(now, waiter.process?.seenMs ?? null, -1)
  return { owner, ...processOf(waiter), since, isDead, wants, seenAt }
}

function processOf({ owner, process }: HolderRow | WaiterRow) {
  const label = labelIn(owner) ?? process?.label ?? null
  return { label, host: process?.host ?? null, pid: process?.pid ?? null }
}

function moment(now: number, ms: number | null, sign: 1 | -1, before?: number | null) {
  if (ms === null) return null
  const at = Math.round(now + sign * ms)
  return before != null && Math.abs(at - before) < SAME_MOMENT_MS ? before : at
}

export interface Totals {
  readonly locks: number
  /**
   * The number of locks, semaphores and elections that are held. Closed latches and barriers do not
   * count.
   */
  readonly held: number
  /**
   * The number of live waiters. Candidates of an election do not count, because they wait while
   * another candidate leads.
   */
  readonly waiting: number
  /** When the longest current wait began. Null without a waiter, or if the time is unknown. */
  readonly waitingSince: number | null
  /**
   * The number of locks with a row. If there are very many locks, further free locks are counted
   * without a row.
   */
  readonly shown: number
}

/** @param omitted the number of free locks without a row */
export function totalsOf(rows: readonly TableRow[], omitted: number): Totals {
  let [held, waiting, since] = [0, 0, Number.POSITIVE_INFINITY]
  for (const row of rows) {
    if (row.state !== 'free' && row.state !== 'closed') held++
    if (viewOf(row.kind).countsWaiters === false) continue
    waiting += row.waiting
    since = Math.min(since, row.waitingSince ?? since)
  }
  const waitingSince = Number.isFinite(since) ? since : null
  return { locks: rows.length + omitted, held, waiting, waitingSince, shown: rows.length }
}
