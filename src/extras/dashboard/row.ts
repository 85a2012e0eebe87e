import type { HolderRow, LockDetail, LockRow, WaiterRow } from '../deployment/rows.ts'

/** How many holders a row of the table tells; the detail tells all. */
const HOLDERS_OF_ROW = 3

/** As the detail tells them; more are counted. */
const WAITERS_OF_DETAIL = 200

/** Two readings of one moment differ by the time that they took. */
const SAME_MOMENT_MS = 1_000

/** Times are moments, in milliseconds by the clock of the dashboard: as they stand still, only what has changed is sent. */
export interface Holder {
  readonly owner: string
  /** The label of its client; null where that is not known. */
  readonly label: string | null
  readonly host: string | null
  readonly pid: number | null
  readonly isRedisson: boolean
  readonly holdCount: number
  readonly since: number | null
  /** When its lease ends, unless it is renewed; null without an expiry. */
  readonly until: number | null
}

export interface TableRow {
  readonly key: string
  readonly kind: LockRow['kind']
  readonly state: LockRow['state']
  /** The first of them. */
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
}

export interface Detail extends TableRow {
  readonly queue: readonly Waiter[]
  readonly more: LockDetail['more']
}

/** @param before what was last told of it, whose moments stay where they mean the same */
export function rowOf(row: LockRow, now: number, before?: TableRow): TableRow {
  const known = new Map(before?.holders.map((holder) => [holder.owner, holder]))
  return {
    key: row.key,
    kind: row.kind,
    state: row.state,
    holders: row.holders
      .slice(0, HOLDERS_OF_ROW)
      .map((holder) => holderOf(holder, now, known.get(holder.owner))),
    holderCount: row.holders.length,
    token: row.token,
    waiting: row.waiting,
    waitingSince: moment(now, row.oldestWaitMs, -1, before?.waitingSince),
  }
}

export function detailOf(detail: LockDetail, now: number): Detail {
  return {
    ...rowOf(detail, now),
    holders: detail.holders.map((holder) => holderOf(holder, now)),
    queue: detail.queue.slice(0, WAITERS_OF_DETAIL).map((waiter) => waiterOf(waiter, now)),
    more: detail.more,
  }
}

function holderOf(holder: HolderRow, now: number, before?: Holder): Holder {
  const { owner, isRedisson, holdCount } = holder
  const since = moment(now, holder.ageMs, -1, before?.since)
  const until = moment(now, holder.ttlMs, 1, before?.until)
  return { owner, ...processOf(holder), isRedisson, holdCount, since, until }
}

function waiterOf(waiter: WaiterRow, now: number): Waiter {
  const { owner, isDead } = waiter
  return { owner, ...processOf(waiter), since: moment(now, waiter.waitedMs, -1), isDead }
}

function processOf({ process }: HolderRow | WaiterRow) {
  return { label: process?.label ?? null, host: process?.host ?? null, pid: process?.pid ?? null }
}

function moment(now: number, ms: number | null, sign: 1 | -1, before?: number | null) {
  if (ms === null) return null
  const at = Math.round(now + sign * ms)
  return before != null && Math.abs(at - before) < SAME_MOMENT_MS ? before : at
}
