import type { AcquireAnswer, Gone, ReenterAnswer, Released } from '../../answers.ts'
import { isUpgradable, isWriter } from '../../owner-id.ts'
import { endsInMs, type Remaining } from '../../remaining.ts'
import type { LoweredHold, Reentry } from '../../requests.ts'
import { extendCounter, lastToken, mint, type TokenTerms } from '../counter.ts'
import { leftMs } from '../moments.ts'
import type { OpenRecord } from '../open-record.ts'
import { sizeOf } from '../plain-data.ts'
import { holderOf } from './read-write-facts.ts'
import {
  dropExpired,
  giveHold,
  hasUpgradable,
  holdLeft,
  lengthenHold,
  lockLeft,
  READ_WRITE_PART,
  type ReadWriteHolds,
  readWriteOf,
} from './read-write-holds.ts'
import {
  enterPlace,
  firstWaiting,
  isShut,
  leaveQueue,
  placeLeftMs,
  placeOf,
  type WaitingPlace,
} from './read-write-queue.ts'
import { endReadWriteHold, wakeReadWrite } from './read-write-turns.ts'

const GONE = { kind: 'gone' } as const

export interface ReadWriteAttempt {
  readonly owner: string
  /**
   * The owner id with which this owner already holds another side of the lock. '' if there is none.
   */
  readonly beside: string
  /** The id of the client if the call waits; '' if it does not wait. */
  readonly client: string
  /** How long the server keeps a place after a refusal, in milliseconds. */
  readonly aliveMs: number
  readonly isLast: boolean
}

/** Acquires the read lock or the upgradable lock. */
export function acquireToRead(
  record: OpenRecord,
  attempt: ReadWriteAttempt,
  terms: TokenTerms,
): AcquireAnswer {
  const holds = readWriteOf(record)
  const { queue } = holds
  const { nowMs } = record
  const { owner, beside, isLast } = attempt
  dropIfExpired(holds, owner, nowMs)
  const place = placeOf(attempt.client, owner, beside)
  const { member, client } = place
  const isPlainReader = !isUpgradable(owner)
  // All readers and writers of a client share one place. Now a reader uses the place, so the place
  // leaves the queue of the writers.
  if (isPlainReader && member === client) leaveQueue(queue, { member, wanted: 'write' })
  const isHeld = holds.byOwner[owner] !== undefined
  const mustWait =
    holds.mode === 'write' ? holds.byOwner[beside] === undefined : isShut(queue, place, nowMs)
  if (!isHeld && (mustWait || (!isPlainReader && hasUpgradable(holds, nowMs)))) {
    const sinceUs = attempt.client === '' ? 0 : wait(record, place, attempt.aliveMs)
    const waitId = sinceUs > 0 && !isPlainReader ? String(sinceUs) : ''
    const ttlMs = endsInMs(lockLeft(holds, nowMs))
    return { kind: 'held', ttlMs, waitId, ...holderOf(record, '') }
  }
  giveHold(holds, { owner, count: 1, leaseMs: terms.leaseMs }, nowMs)
  if (isLast || member !== client) leaveQueue(queue, place)
  return granted(keptToken(record, terms))
}

export function reenterToRead(
  record: OpenRecord,
  { owner, holds: count }: Reentry,
  terms: TokenTerms,
): ReenterAnswer {
  const holds = readWriteOf(record)
  dropIfExpired(holds, owner, record.nowMs)
  if (holds.byOwner[owner] === undefined) return GONE
  giveHold(holds, { owner, count, leaseMs: terms.leaseMs }, record.nowMs)
  return granted(keptToken(record, terms))
}

export function acquireToWrite(
  record: OpenRecord,
  attempt: ReadWriteAttempt,
  terms: TokenTerms,
): AcquireAnswer | Gone {
  const holds = readWriteOf(record)
  const { nowMs } = record
  const { owner, beside } = attempt
  const place = placeOf(attempt.client, owner, beside)
  if (holds.byOwner[owner] !== undefined) {
    lengthenHold(holds, owner, terms.leaseMs, nowMs)
    if (lastToken(record) !== 0) return granted(keptToken(record, terms))
  } else {
    const refusal = whyNotWrite(record, attempt, place)
    if (refusal !== undefined) return refusal
  }
  giveHold(holds, { owner, count: 1, leaseMs: terms.leaseMs }, nowMs)
  leaveQueue(holds.queue, place)
  return granted(mint(record, terms))
}

function whyNotWrite(
  record: OpenRecord,
  { owner, beside, client, aliveMs }: ReadWriteAttempt,
  place: WaitingPlace,
): AcquireAnswer | Gone | undefined {
  const holds = record.part(READ_WRITE_PART)
  const { queue } = holds
  const { nowMs } = record
  const isUpgrade = isUpgradable(beside)
  // The owner has lost the upgradable lock. Another owner may have written since then.
  if (isUpgrade && holdLeft(holds, beside, nowMs) === 'gone') return GONE
  const remaining = holds.mode === 'read' ? dropExpired(holds, nowMs) : sizeOf(holds.byOwner)
  // All readers and writers of a client share one place. Now a writer uses the place, so the place
  // leaves the queue of the readers.
  if (place.member === place.client) leaveQueue(queue, { member: place.member, wanted: 'read' })
  // An owner that waits for an upgrade comes before all others. This owner does not hold the
  // upgradable lock, so it must not come first.
  if (!isUpgrade) leaveQueue(queue, { member: owner, wanted: 'upgrade' })
  const first = firstWaiting(queue, 'write', nowMs)
  const isNext = isUpgrade || first === undefined || first.member === place.member
  const isFree = remaining === 0 || (isUpgrade && holds.mode === 'read' && remaining === 1)
  if (isFree && isNext && queue.phaseEndsAt === 0) return undefined
  const waitId = client === '' ? '' : String(wait(record, place, aliveMs))
  if (!isFree) {
    const ttlMs = endsInMs(lockLeft(holds, nowMs))
    return { kind: 'held', waitId, ttlMs, ...holderOf(record, beside) }
  }
  // The lock is free, but readers of the current phase, or a client that has waited longer, come
  // first.
  const firstForMs = isNext ? 0 : placeLeftMs(queue, first.member, nowMs)
  const ttlMs = Math.max(leftMs(queue.phaseEndsAt, nowMs), firstForMs)
  return { kind: 'held', waitId, ttlMs, holder: '', ageMs: null }
}

export function reenterToWrite(
  record: OpenRecord,
  { owner, token, holds: count }: Reentry,
  terms: TokenTerms,
): ReenterAnswer {
  const holds = readWriteOf(record)
  if (holds.byOwner[owner] === undefined || lastToken(record) > token) return GONE
  giveHold(holds, { owner, count, leaseMs: terms.leaseMs }, record.nowMs)
  extendCounter(record, terms)
  return granted(0)
}

/**
 * Lowers the hold count. At 0 the hold ends.
 *
 * @param isLast true if the client no longer needs its place in the queue
 */
export function lowerReadWrite(
  record: OpenRecord,
  { owner, holds: count, token, listens }: LoweredHold,
  clientId: string,
  isLast: boolean,
): Released {
  const holds = readWriteOf(record, true)
  const place = placeOf(clientId, owner, '')
  if (isLast) leaveQueue(holds.queue, place)
  const hold = holds.byOwner[owner]
  if (hold === undefined || (isWriter(owner) && token !== '' && lastToken(record) > token)) {
    // An upgrade waits under the owner id, not under the client id.
    const hasLeft = leaveQueue(holds.queue, { ...place, member: owner }) || isLast
    // The removed place may have been the first, so the next waiter gets a message.
    if (hasLeft && holds.mode !== 'write') {
      dropExpired(holds, record.nowMs)
      wakeReadWrite(record)
    }
    return GONE
  }
  if (count > 0) {
    hold.holds = Math.min(hold.holds, count)
    return { kind: 'kept' }
  }
  return { kind: 'freed', others: endReadWriteHold(record, owner, listens) }
}

/** Renews a lease, and returns its remaining time, as `LockServer.renew` does. */
export function renewReadWrite(record: OpenRecord, owner: string, terms: TokenTerms): Remaining {
  const holds = record.part(READ_WRITE_PART)
  if (terms.leaseMs > 0 && holdLeft(holds, owner, record.nowMs) !== 'gone') {
    lengthenHold(holds, owner, terms.leaseMs, record.nowMs)
    extendCounter(record, terms)
  }
  return holdLeft(holds, owner, record.nowMs)
}

/**
 * Gives a client a place, or keeps its place for longer.
 *
 * @returns when the wait began, in µs of the server's time; `GOES_ON` for an upgrade
 */
function wait(record: OpenRecord, place: WaitingPlace, aliveMs: number): number {
  const times = { nowUs: record.uniqueUs(), nowMs: record.nowMs, aliveMs }
  return enterPlace(record.part(READ_WRITE_PART).queue, place, times)
}

/** Removes all expired holds if the owner's lease has expired. */
function dropIfExpired(holds: ReadWriteHolds, owner: string, now: number): void {
  if (holds.byOwner[owner] === undefined) return
  if (holdLeft(holds, owner, now) === 'gone') dropExpired(holds, now)
}

/**
 * Returns the last token of the lock, and keeps the token for longer. Issues a token if none is
 * stored.
 */
function keptToken(record: OpenRecord, terms: TokenTerms): number {
  const token = lastToken(record)
  if (token === 0) return mint(record, terms)
  extendCounter(record, terms)
  return token
}

function granted(token: number) {
  return { kind: 'granted', token } as const
}
