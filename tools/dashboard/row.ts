import { candidateLabel } from '../deployment/key-names.ts'
import type { HolderRow, LockDetail, LockRow, WaiterRow } from '../deployment/rows.ts'
import { viewOf } from '../kinds/all.ts'

/** The most holders in a row of the table. The detail has more. */
const HOLDERS_OF_ROW = 3

/** The most holders and waiters in a detail. Further ones are only counted. */
const HOLDERS_OF_DETAIL = 200
const WAITERS_OF_DETAIL = 200

/**
 * Two looks compute the same moment with a small difference, because a look takes time. Moments
 * closer than this, in milliseconds, are the same.
 */
const SAME_MOMENT_MS = 1_000

/**
 * One holder. All times are moments in milliseconds, by the clock of the dashboard. Unlike
 * durations, moments stay the same, so the row is sent again only after a real change.
 */
export interface Holder {
  readonly owner: string
  /** The label of its client; null if unknown. */
  readonly label: string | null
  readonly host: string | null
  readonly pid: number | null
  readonly isRedisson: boolean
  readonly holdCount: number
  /** The ids of its permits; empty for a lock. */
  readonly permits: readonly string[]
  /** When its client last reported itself; null if that is unknown. */
  readonly seenAt: number | null
  readonly since: number | null
  /** When its lease ends without a renewal; null if the lease never expires. */
  readonly until: number | null
  /**
   * The greatest remaining time of its lease that was seen, in milliseconds, rounded up to seconds;
   * null if the lease never expires.
   */
  readonly leaseMs: number | null
}

export interface TableRow {
  readonly key: string
  readonly kind: LockRow['kind']
  readonly state: LockRow['state']
  /** The state in words: `held`, `2 of 3 taken`, `closed, 2 to go`. */
  readonly stateText: string
  /** At most `HOLDERS_OF_ROW` holders. */
  readonly holders: readonly Holder[]
  readonly holderCount: number
  readonly token: number | null
  readonly waiting: number
  readonly waitingSince: number | null
}

export interface Waiter {
  readonly owner: string
  readonly label: string | null
  readonly host: string | null
  readonly pid: number | null
  readonly since: number | null
  readonly isDead: boolean
  /**
   * The access that the waiter requests, if the kind has several: `read`, `write`, `2 permits`.
   */
  readonly wants: string | null
  /** When its client last reported itself; null if that is unknown. */
  readonly seenAt: number | null
}

export interface Detail extends TableRow {
  readonly queue: readonly Waiter[]
  readonly count: LockDetail['count']
  readonly votes: LockDetail['votes']
  /** False for a kind whose holders are unknown. A holder of any other kind can lose it by force. */
  readonly hasHolders: boolean
}

/**
 * @param before the row that was sent last. If a moment has hardly changed, the new row has the old
 * value
 */
export function rowOf(row: LockRow, now: number, before?: TableRow): TableRow {
  const known = new Map(before?.holders.map((holder) => [holder.owner, holder]))
  return {
    key: row.key,
    kind: row.kind,
    state: row.state,
    stateText: row.stateText,
    holders: row.holders
      .slice(0, HOLDERS_OF_ROW)
      // Without the permit ids: a holder may have thousands, and each change sends the row to all
      // viewers.
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
    hasHolders: viewOf(detail.kind).whyNoForce === undefined,
  }
}

function holderOf(holder: HolderRow, now: number, before?: Holder): Holder {
  const { owner, isRedisson, holdCount, permits } = holder
  const since = moment(now, holder.ageMs, -1, before?.since)
  const until = moment(now, holder.ttlMs, 1, before?.until)
  const seenAt = moment(now, holder.process?.seenMs ?? null, -1, before?.seenAt)
  const leaseMs = leaseOf(holder, before?.since === since ? before.leaseMs : null)
  const process = processOf(holder)
  return { owner, ...process, isRedisson, holdCount, permits, seenAt, since, until, leaseMs }
}

/** Rounds up to seconds and keeps the greatest value, so that a renewal does not change the row. */
function leaseOf({ ttlMs }: HolderRow, before: number | null): number | null {
  if (ttlMs === null) return null
  return Math.max(before ?? 0, 1_000 * Math.ceil(ttlMs / 1_000))
}

function waiterOf(waiter: WaiterRow, now: number): Waiter {
  const { owner, isDead, wants } = waiter
  const since = moment(now, waiter.waitedMs, -1)
  const seenAt = moment(now, waiter.process?.seenMs ?? null, -1)
  return { owner, ...processOf(waiter), since, isDead, wants, seenAt }
}

function processOf({ owner, process }: HolderRow | WaiterRow) {
  const label = candidateLabel(owner) ?? process?.label ?? null
  return { label, host: process?.host ?? null, pid: process?.pid ?? null }
}

function moment(now: number, ms: number | null, sign: 1 | -1, before?: number | null) {
  if (ms === null) return null
  const at = Math.round(now + sign * ms)
  return before != null && Math.abs(at - before) < SAME_MOMENT_MS ? before : at
}

/** The totals of all rows. */
export interface Totals {
  readonly locks: number
  /** The number of locks, semaphores and elections that are held. Closed latches do not count. */
  readonly held: number
  /**
   * The number of live waiters. Candidates of an election do not count, because they wait while
   * another candidate leads.
   */
  readonly waiting: number
  /** When the longest current wait began; null without a waiter, or if unknown. */
  readonly waitingSince: number | null
  /** The number of rows. Above a limit, free locks are counted without a row. */
  readonly shown: number
}

/** @param left the number of free locks without a row */
export function totalsOf(rows: readonly TableRow[], left: number): Totals {
  let [held, waiting, since] = [0, 0, Number.POSITIVE_INFINITY]
  for (const row of rows) {
    if (row.state !== 'free' && row.state !== 'closed') held++
    if (row.kind === 'election') continue
    waiting += row.waiting
    since = Math.min(since, row.waitingSince ?? since)
  }
  const waitingSince = Number.isFinite(since) ? since : null
  return { locks: rows.length + left, held, waiting, waitingSince, shown: rows.length }
}
