import type { Released } from '../../answers.ts'
import type { PermitAnswer } from '../../permit-pool.ts'
import { PERMITS, type PermitChange, type Remembered } from '../../permit-server.ts'
import type { Remaining } from '../../remaining.ts'
import { extendCounter, mint, type TokenTerms } from '../counter.ts'
import { timeUs } from '../moments.ts'
import type { OpenRecord } from '../open-record.ts'
import { isEmpty } from '../plain-data.ts'
import { resultOf, storeResult } from '../stored-results.ts'
import { goOnTo, type PlaceHolder } from './go-on.ts'
import { checkAgainMs, someHolders } from './permit-facts.ts'
import { enterQueue, firstPlace, goOn, isNext, removePlace } from './permit-queue.ts'
import {
  addPermits,
  beganUs,
  deletePool,
  giveBackAll,
  giveBackExpired,
  giveBackIds,
  lengthenPermits,
  POOL,
  takenIn,
  takePermits,
  type WaitBegan,
  wakeClient,
  wakeNext,
} from './pool.ts'

const WHAT = PERMITS.what

interface LeasedAttempt extends WaitBegan, PlaceHolder {
  readonly owner: string
  readonly permits: number
  /** If no client has set the total number of permits, the server sets this number. */
  readonly limit?: number | undefined
}

export function acquireLeased(
  record: OpenRecord,
  attempt: LeasedAttempt,
  terms: TokenTerms,
): PermitAnswer {
  record.refuseOthers(WHAT)
  const pool = record.part(POOL)
  const { limit } = attempt
  const wasSet = pool.available !== null
  giveBackExpired(pool, record.nowMs)
  if (limit !== undefined && !wasSet) {
    addPermits(pool, limit - takenIn(pool) - (pool.available ?? 0))
    pool.kind = 'permits'
  }
  return acquired(record, attempt, terms, wasSet || limit !== undefined)
}

/**
 * Releases all permits of the owner `from`, and acquires permits for a waiter of the same client, if
 * this client is next.
 *
 * @returns the answer of `giveBackLeased`, and the answer to the attempt
 */
export function handOverLeased(
  record: OpenRecord,
  from: string,
  attempt: LeasedAttempt,
  terms: TokenTerms,
): [Released, PermitAnswer] {
  record.refuseOthers(WHAT)
  const pool = record.part(POOL)
  giveBackExpired(pool, record.nowMs)
  const wasTaken = giveBackAll(pool, from)
  const answer = acquired(record, attempt, terms, pool.available !== null)
  return [wasTaken ? { kind: 'freed', others: 0 } : { kind: 'gone' }, answer]
}

/** @param isSet true if the number of permits is set */
function acquired(
  record: OpenRecord,
  attempt: LeasedAttempt,
  terms: TokenTerms,
  isSet: boolean,
): PermitAnswer {
  const pool = record.part(POOL)
  const { nowMs } = record
  const { owner, permits, client, isLast, limit } = attempt
  const { queue } = pool
  const waits = client !== ''
  const sinceUs = waits ? beganUs(record, attempt) : 0
  const [available, taken] = [pool.available ?? 0, takenIn(pool)]
  const isRepeat = pool.taken[owner] !== undefined
  if (!isRepeat && isSet && available + taken > 0 && permits > available + taken) {
    if (waits) goOn(queue, client, isLast, nowMs)
    wakeNext(record, isLast ? undefined : client)
    return { kind: 'tooMany', available, taken }
  }
  if (!isRepeat && (!isNext(queue, client, sinceUs, nowMs) || permits > available)) {
    if (waits) enterQueue(queue, { client, sinceUs, permits }, nowMs)
    const ttlMs = checkAgainMs(pool, client, nowMs)
    // The client that is next may have missed its message, so the server sends the message again.
    wakeNext(record, client)
    const holders = waits ? someHolders(pool, nowMs) : []
    const seen = { isSet, available, taken, holders }
    return { kind: 'held', ttlMs, waitId: waits ? String(sinceUs) : '', seen }
  }
  const endsAt = Math.floor(nowMs) + terms.leaseMs
  if (isRepeat) lengthenPermits(pool, owner, endsAt)
  else takePermits(pool, owner, { permits, endsAt, sinceUs: timeUs(nowMs) })
  const inAll = available + taken
  // A call that wants more permits than exist must send its request at once, and is then refused.
  const isPossible = (attempt.behind?.permits ?? 0) <= inAll
  const next = isPossible ? attempt : { ...attempt, behind: undefined }
  const behindUs = waits ? goOnTo(record, next) : undefined
  wakeNext(record, isLast ? undefined : client)
  const token = mint(record, terms)
  const isOther = limit !== undefined && limit !== inAll
  const grant = { kind: 'granted', token, ...(isOther && { inAll }) } as const
  if (behindUs === undefined) return grant
  const behind = {
    ttlMs: checkAgainMs(pool, client, nowMs),
    waitId: String(behindUs),
    isFirst: firstPlace(queue, nowMs)?.client === client,
    seen: {
      isSet: true,
      available: pool.available ?? 0,
      taken: takenIn(pool),
      holders: someHolders(pool, nowMs),
    },
  }
  return { ...grant, behind }
}

/**
 * Releases all permits of the owner, and wakes the next client.
 *
 * @param client the id of the client if no call of the client waits; '' if a call waits
 */
export function giveBackLeased(record: OpenRecord, owner: string, client: string): Released {
  record.refuseOthers(WHAT)
  const pool = record.part(POOL)
  giveBackExpired(pool, record.nowMs)
  const wasTaken = giveBackAll(pool, owner)
  if (client !== '') removePlace(pool.queue, client)
  wakeNext(record)
  return wasTaken ? { kind: 'freed', others: 0 } : { kind: 'gone' }
}

/** Renews a lease, and returns its remaining time, as `LockServer.renew` does. */
export function renewLeased(record: OpenRecord, owner: string, terms: TokenTerms): Remaining {
  const pool = record.part(POOL)
  const own = pool.taken[owner]
  const untilMs = own?.ids.length === own?.permits ? (own?.endsAt ?? 0) : 0
  const nowMs = Math.floor(record.nowMs)
  if (untilMs <= nowMs) return 'gone'
  const remainingMs = untilMs - nowMs
  if (terms.leaseMs === 0) return remainingMs
  lengthenPermits(pool, owner, nowMs + terms.leaseMs)
  extendCounter(record, terms)
  return Math.max(remainingMs, terms.leaseMs)
}

/** Changes the number of permits. Returns the number that `RemotePermits.change` describes. */
export function changeLeased(record: OpenRecord, change: PermitChange): number {
  const { how, permits, request } = change
  const pool = record.part(POOL)
  const earlier = resultOf(pool.results, request)
  if (earlier !== undefined) return Number(earlier)
  record.refuseOthers(WHAT)
  const { queue } = pool
  const isSet = pool.available !== null
  if (how === 'try-set' && isSet) return stored(record, change, 0)
  if (how === 'delete') {
    const wereTaken = !isEmpty(pool.taken)
    pool.taken = {}
    const isDeleted = deletePool(pool) || wereTaken
    // The next client in the queue gets a message, because its request may set the number of
    // permits again.
    const next = firstPlace(queue, record.nowMs)
    if (next !== undefined) wakeClient(record, next.client)
    return stored(record, change, isDeleted ? 1 : 0)
  }
  giveBackExpired(pool, record.nowMs)
  const [before, taken] = [pool.available ?? 0, takenIn(pool)]
  const result = how === 'drain' ? Math.max(before, 0) : 1
  if (how === 'add') addPermits(pool, permits)
  else if (how !== 'drain') addPermits(pool, permits - before - taken)
  // A semaphore without a number has no permits to remove.
  else if (isSet) addPermits(pool, -result)
  if (how !== 'drain') pool.kind = 'permits'
  const available = pool.available ?? 0
  const first = firstPlace(queue, record.nowMs)
  const isEnough = first !== undefined && first.permits <= available
  // The next client also gets a message if it wants more permits than exist, because its wait is
  // pointless.
  if (isEnough || (first && first.permits > available + taken)) wakeClient(record, first.client)
  return stored(record, change, result)
}

/** Releases permits by their ids. Returns true if all of these permits were taken. */
export function releaseIds(
  record: OpenRecord,
  ids: readonly string[],
  request: Remembered,
): boolean {
  const pool = record.part(POOL)
  const earlier = resultOf(pool.results, request.request)
  if (earlier !== undefined) return earlier === 1
  record.refuseOthers(WHAT)
  const before = pool.available ?? 0
  giveBackExpired(pool, record.nowMs)
  const isWhole = giveBackIds(pool, new Set(ids)) === ids.length
  if ((pool.available ?? 0) > before) wakeNext(record)
  return stored(record, request, isWhole ? 1 : 0) === 1
}

function stored(record: OpenRecord, { request, keptMs }: Remembered, result: number): number {
  storeResult(record.part(POOL).results, request, result, record.nowMs + keptMs)
  return result
}
