import { CallFailure } from '../call-failure.ts'
import type { LatchFacts } from '../facts.ts'
import { LATCH, type LatchState, OPEN, type RemoteLatch } from '../latch-server.ts'
import type { OnceRequest } from '../once-request.ts'
import { FOREVER } from '../record-store.ts'
import { changeRecord, type OpenRecord, type RecordPart } from './open-record.ts'
import type { RecordKind } from './record-kind.ts'
import {
  expireResults,
  newResults,
  resultOf,
  resultsUntilMs,
  type StoredResults,
  storeResult,
} from './stored-results.ts'

/** The server stores a result for `keptMs` and this additional time, in milliseconds. */
const MARGIN_MS = 60_000

/** The message of the failure if the server may have forgotten the result of an earlier copy. */
const TOO_LATE =
  'the server answers again, but it is too late to repeat the request, which may have run'

/** The state of one latch. The functions below do the same as the scripts in `lua/latch/`. */
interface StoredLatch {
  /** The count; 0 if the latch is open. */
  count: number
  /** The id of the round; 0 if the latch is open. */
  round: number
  /** When the count was set, on the steady clock of the server, in milliseconds. */
  setAt: number
  readonly results: StoredResults<boolean | LatchState>
}

/** A change of a latch that counts once. */
interface OnceInRound {
  readonly request: OnceRequest
  /**
   * The id of the only round in which the change counts. Undefined means the round at the time of
   * the call.
   */
  readonly round?: number | undefined
}

const WHAT = LATCH.what

const PART: RecordPart<StoredLatch> = {
  name: 'latch',
  newState: () => ({ count: 0, round: 0, setAt: 0, results: newResults() }),
  expire: ({ results }, nowMs) => expireResults(results, nowMs),
  untilMs: ({ count, results }) => (count > 0 ? FOREVER : resultsUntilMs(results)),
  use: ({ count }) => (count > 0 ? { what: WHAT, untilMs: FOREVER } : undefined),
}

function trySetCount(record: OpenRecord, count: number, request: OnceRequest): boolean {
  const [latch, earlier] = resume<boolean>(record, request)
  if (earlier !== undefined) return earlier
  const isOpen = latch.count === 0
  if (isOpen) {
    Object.assign(latch, {
      count,
      round: record.uniqueUs(),
      setAt: record.moment.steadyMs,
    })
    record.publish(channelOf(record.rawName), '1')
  }
  return stored(record, request, isOpen)
}

/** @returns null if the round of the call is over */
function countDown(record: OpenRecord, { request, round }: OnceInRound): LatchState | null {
  const [latch, earlier] = resume<LatchState>(record, request)
  if (earlier !== undefined) return earlier
  if (isOfOtherRound(record, { request, round })) return null
  // An open latch does not change, so a copy of this request needs no stored result.
  if (latch.count === 0) return OPEN
  latch.count -= 1
  if (latch.count > 0) return stored(record, request, { count: latch.count, round: latch.round })
  openLatch(latch)
  record.publish(channelOf(record.rawName), '0')
  return stored(record, request, OPEN)
}

function deleteCount(record: OpenRecord, { request, round }: OnceInRound): boolean {
  const [latch, earlier] = resume<boolean>(record, request)
  if (earlier !== undefined) return earlier
  if (isOfOtherRound(record, { request, round })) return false
  const isSet = latch.count > 0
  if (isSet) {
    openLatch(latch)
    record.publish(channelOf(record.rawName), '1')
  }
  // Stores the result even without a count, because a late copy must not delete a later count.
  return stored(record, request, isSet)
}

function read(record: OpenRecord): LatchState {
  record.refuseOthers(WHAT)
  const { count, round, setAt } = record.part(PART)
  return count === 0 ? OPEN : { count, round, setAt: setAt - record.moment.aheadMs }
}

function inspect(record: OpenRecord): LatchFacts {
  record.refuseOthers(WHAT)
  const { count, round } = record.part(PART)
  const waiters = record.moment.listeners(channelOf(record.rawName)) ?? 0
  return { count, waiters, round: count === 0 ? null : round }
}

/** Returns the latch, and the result of an earlier copy of the request, if there is one. */
function resume<T extends boolean | LatchState>(
  record: OpenRecord,
  { id }: OnceRequest,
): [StoredLatch, T | undefined] {
  record.refuseOthers(WHAT)
  const latch = record.part(PART)
  return [latch, resultOf(latch.results, id) as T | undefined]
}

function stored<T extends boolean | LatchState>(
  record: OpenRecord,
  { id, keptMs }: OnceRequest,
  result: T,
): T {
  storeResult(record.part(PART).results, id, result, record.nowMs + keptMs + MARGIN_MS)
  return result
}

function openLatch(latch: StoredLatch): void {
  latch.count = 0
  latch.round = 0
}

/**
 * True if the call is about another round than the current round. A call without `round` is about
 * another round if the current round began after the call.
 */
function isOfOtherRound(record: OpenRecord, { request, round }: OnceInRound): boolean {
  const latch = record.part(PART)
  if (round !== undefined) return latch.round !== round
  return latch.count > 0 && latch.setAt > request.calledAt + record.moment.aheadMs
}

const channelOf = (rawName: string) => `latch ${rawName}`

export const recordLatch: RecordKind<(rawName: string) => RemoteLatch> =
  ({ store }) =>
  (rawName) => {
    const change = <T>(callMs: number, verb: (record: OpenRecord) => T) =>
      changeRecord(store, rawName, callMs, verb)
    const once = async <T>(
      request: OnceRequest,
      callMs: number,
      verb: (record: OpenRecord) => T,
    ) => {
      const isInTime = request.startCopy(store.clock.monotonic())
      if (!isInTime) throw new CallFailure('unknown', TOO_LATE, undefined, true)
      return change(callMs, verb)
    }
    return {
      trySetCount: (count, request, callMs) =>
        once(request, callMs, (record) => trySetCount(record, count, request)),
      countDown: (request, callMs, round) =>
        once(request, callMs, (record) => countDown(record, { request, round })),
      delete: (request, callMs, round) =>
        once(request, callMs, (record) => deleteCount(record, { request, round })),
      read: (callMs) => change(callMs, read),
      inspect: (callMs) => change(callMs, inspect),
      listen: (onWake) => store.listen(channelOf(rawName), () => onWake()),
    }
  }
