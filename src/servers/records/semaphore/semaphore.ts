import type { Released } from '../../answers.ts'
import type { SemaphoreFacts } from '../../facts.ts'
import type { PermitAnswer } from '../../permit-pool.ts'
import { type Addition, SEMAPHORE, type SemaphoreChange } from '../../semaphore-server.ts'
import type { OpenRecord } from '../open-record.ts'
import { forgetResults, resultOf } from '../stored-results.ts'
import { goOnTo, type PlaceHolder } from './go-on.ts'
import {
  enterQueue,
  firstPlace,
  isNext,
  removePlace,
  standing,
  waitingForPermits,
} from './permit-queue.ts'
import {
  addPermits,
  beganUs,
  deletePool,
  POOL,
  type Pool,
  type WaitBegan,
  wakeClient,
  wakeNext,
} from './pool.ts'
import { prolong, resume, type StoredChange, stored } from './stored-change.ts'

interface SemaphoreAttempt extends WaitBegan, PlaceHolder {
  readonly permits: number
}

interface Acquired {
  readonly answer: PermitAnswer
  /** True if another client may be next now. */
  readonly wakes?: boolean
  /** The id of a client that needs no message. */
  readonly but?: string | undefined
}

export function acquirePermits(
  record: OpenRecord,
  request: StoredChange,
  attempt: SemaphoreAttempt,
): PermitAnswer {
  const { earlier } = resume(record, request)
  const { answer, wakes, but } = acquired(record, request, earlier, attempt)
  if (wakes) wakeNext(record, but)
  return answer
}

/**
 * Adds permits, and acquires permits for a waiter of the same client, if this client is next.
 *
 * @returns the answer of `addFreePermits`, and the answer to the attempt
 */
export function handOverPermits(
  record: OpenRecord,
  request: StoredChange,
  change: Addition,
  taking: StoredChange,
  attempt: SemaphoreAttempt,
): [boolean, PermitAnswer] {
  const earlier = resultOf(record.part(POOL).results, taking.id)
  const isAdded = added(record, request, change).isThere
  const { answer, but } = acquired(record, taking, earlier, attempt)
  wakeNext(record, but)
  return [isAdded, answer]
}

/** @param known the result of an earlier copy of the request; undefined if there is none */
function acquired(
  record: OpenRecord,
  request: StoredChange,
  known: number | 'returned' | undefined,
  attempt: SemaphoreAttempt,
): Acquired {
  const pool = record.part(POOL)
  const { client, isLast, permits } = attempt
  const { nowMs } = record
  const { queue } = pool
  const available = pool.available ?? 0
  const seen = { isSet: pool.available !== null, available, taken: null, holders: [] }
  if (known === 'returned') return { answer: { kind: 'held', ttlMs: Infinity, seen } }
  if (known !== undefined) {
    prolong(record, request)
    return { answer: { kind: 'granted', token: 0 } }
  }
  const sinceUs = client !== '' ? beganUs(record, attempt) : 0
  const wasFirst = client !== '' && firstPlace(queue, nowMs)?.client === client
  if (available >= permits && isNext(queue, client, sinceUs, nowMs)) {
    const left = addPermits(pool, -permits)
    stored(record, request, permits)
    const behindUs = client !== '' ? goOnTo(record, attempt) : undefined
    const place = { waitId: String(behindUs), ...standing(queue, client, nowMs) }
    const behind = behindUs !== undefined && {
      behind: { ...place, seen: { ...seen, available: left } },
    }
    const answer = { kind: 'granted', token: 0, ...behind } as const
    return { answer, wakes: true, but: isLast ? undefined : client }
  }
  if (client === '') return { answer: { kind: 'held', ttlMs: Infinity, seen } }
  enterQueue(queue, { client, sinceUs, permits }, nowMs)
  const { ttlMs, isFirst } = standing(queue, client, nowMs)
  // The client's place belonged to a waiter that began to wait earlier. This waiter began later, so
  // its place is further back, and another client may be next.
  const answer = { kind: 'held', ttlMs, waitId: String(sinceUs), seen } as const
  return { answer, wakes: wasFirst && !isFirst }
}

/**
 * Gives back the permits that an acquisition took, if it took any. May wake the next client.
 *
 * @param request the acquisition; its `keptMs` is 0 if no copy of the acquisition can still run
 * @param client the id of the client if no call of the client waits; '' if a call waits
 */
export function giveBackPermits(
  record: OpenRecord,
  request: StoredChange,
  client: string,
): Released {
  const { pool, earlier } = resume(record, request)
  const wasFirst = client !== '' && firstPlace(pool.queue, record.nowMs)?.client === client
  if (client !== '') removePlace(pool.queue, client)
  if (request.keptMs > 0) stored(record, request, 'returned')
  else if (earlier !== 'returned') forgetResults(pool.results, [request.id])
  // If the semaphore was deleted since the acquisition, the release does not create it again.
  const isBack = typeof earlier === 'number' && pool.available !== null
  if (isBack) addPermits(pool, earlier)
  if (isBack || wasFirst) wakeNext(record)
  return isBack ? { kind: 'freed', others: 0 } : { kind: 'gone' }
}

/**
 * Called when no call of a client waits any more. Removes the client's place in the queue. If the
 * place was first, wakes the next client.
 */
export function removeWaiter(record: OpenRecord, client: string): void {
  record.refuseOthers(SEMAPHORE.what)
  const { queue } = record.part(POOL)
  const wasFirst = firstPlace(queue, record.nowMs)?.client === client
  removePlace(queue, client)
  if (wasFirst) wakeNext(record)
}

/**
 * Adds to the number of available permits. Returns false if `ifExists` is true and the semaphore
 * does not exist.
 */
export function addFreePermits(
  record: OpenRecord,
  request: StoredChange,
  change: Addition,
): boolean {
  const { isThere, isNew } = added(record, request, change)
  if (isThere && isNew) wakeNext(record)
  return isThere
}

function added(record: OpenRecord, request: StoredChange, { permits, ifExists }: Addition) {
  const { pool, earlier } = resume(record, request)
  if (earlier !== undefined) {
    prolong(record, request)
    return { isThere: earlier !== 0, isNew: false }
  }
  const isThere = pool.available !== null || !ifExists
  stored(record, request, isThere ? 1 : 0)
  if (isThere) {
    if (pool.available === null) pool.kind = 'semaphore'
    addPermits(pool, permits)
  }
  return { isThere, isNew: true }
}

/** Creates, changes or deletes a semaphore. Returns the number that `SemaphoreChange` describes. */
export function changePermits(
  record: OpenRecord,
  request: StoredChange,
  change: SemaphoreChange,
): number {
  const { pool, earlier } = resume(record, request)
  if (earlier !== undefined) {
    prolong(record, request)
    return Number(earlier)
  }
  const before = pool.available ?? 0
  const result = changed(record, pool, change)
  stored(record, request, result)
  if ((pool.available ?? 0) > before) wakeNext(record)
  return result
}

function changed(record: OpenRecord, pool: Pool, change: SemaphoreChange): number {
  const { what, permits, ttlMs } = change
  if (what === 'delete') {
    const isDeleted = deletePool(pool)
    const next = firstPlace(pool.queue, record.nowMs)
    if (next !== undefined) wakeClient(record, next.client)
    return isDeleted ? 1 : 0
  }
  if (what === 'drain') {
    const drained = Math.max(pool.available ?? 0, 0)
    if (drained > 0) addPermits(pool, -drained)
    return drained
  }
  if (what === 'set' && pool.available !== null) return 0
  const available = addPermits(pool, permits)
  pool.kind = 'semaphore'
  if (what === 'add') return available
  if (ttlMs > 0) pool.endsAt = record.nowMs + ttlMs
  return 1
}

export function inspectPermits(record: OpenRecord, most: number): SemaphoreFacts {
  record.refuseOthers(SEMAPHORE.what)
  const { available, queue } = record.part(POOL)
  const waiting = waitingForPermits(queue, most, record.nowMs)
  return { isSet: available !== null, available: available ?? 0, waiting }
}
