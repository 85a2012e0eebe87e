// Converts the reports about a latch into operations of the model.
import { disturbances } from './disturbances.mjs'
import { isSetWithin } from './latch-model.mjs'
import { WINDOW_MARGIN_MS } from './windows.mjs'

/** If the answer was this slow, the request may act in the next round, in milliseconds. */
const SLOW_MS = 20
/** For this long after a fault, an answer may be slow or a message may be missing, in milliseconds. */
const FELT_MS = 7_000
/** `await` gives false at its timeout. If no message was lost, it learns of the end of its round within this time. */
const KNOWN_MS = 1_000
/** The server refuses a request this long after its client gave up, or this long after a killed process sent it. */
const [EXPIRES_MS, EXPIRES_KILLED_MS] = [3_000, 10_000]

/**
 * @param attempts of one latch
 * @returns `operations`; after a time in which a server could forget, the state is unknown
 */
export function latchOperationsOf(attempts, { windows, faults, about }) {
  const [{ lock }] = attempts
  const lost = windows
    .filter((one) => !one.isClock && (one.lock === undefined || one.lock === lock))
    .map(({ from, to }) => ({ from: from - WINDOW_MARGIN_MS, to: to + WINDOW_MARGIN_MS }))
  const clocks = windows.filter(({ isClock }) => isClock)
  const isDisturbed = disturbances([...faults, ...clocks], FELT_MS)
  // The number of a round is the time of its set, if no clock was set and the history knows the time.
  const epochMs = clocks.length === 0 ? about?.epochMs : undefined
  const roundOf = roundsBySet(attempts, epochMs)
  const operations = lost.map(({ from, to }) => ({ kind: 'forget', from, to, attempt: { lock } }))
  for (const attempt of attempts) {
    const { act: kind, count, round, answer, askedAt: from, settledAt, calledAt, process } = attempt
    const until = settledAt ?? from
    const meanwhile = lost.filter((one) => one.from <= until && one.to >= from)
    // If a server could forget during the call, the operation may have happened before that, after that, or never.
    const isKnown = attempt.result === 'done' && meanwhile.length === 0
    if (!isKnown && (kind === 'await' || kind === 'inspect')) continue
    const expiresAt = isKnown ? Infinity : expiryOf(attempt)
    if (meanwhile.some((one) => one.from <= from && expiresAt <= one.to)) continue
    const to = isKnown ? settledAt : Infinity
    const operation = { kind, count, round, answer, calledAt, from, to, attempt }
    if (epochMs !== undefined) operation.epochMs = epochMs
    if (roundOf.has(attempt)) operation.newRound = roundOf.get(attempt)
    const isFelt = isDisturbed(from, until, process)
    const isSlow = kind !== 'await' && until - from > SLOW_MS
    const isUnclear = isFelt || isSlow || calledAt === undefined
    if (round === undefined && isUnclear) operation.isLoose = true
    if (kind === 'await' && answer === false && !isFelt) {
      operation.from = Math.max(from, Math.min(to, from + attempt.waitMs - KNOWN_MS))
    }
    if (!isKnown) Object.assign(operation, { answer: undefined, expiresAt })
    operations.push(operation)
  }
  return { operations, endings: [] }
}

/** By set, its round, if the time of the set fits only one known round, and if no other set fits this round. */
function roundsBySet(attempts, epochMs) {
  const found = new Map()
  if (epochMs === undefined) return found
  const rounds = [...new Set(attempts.flatMap(({ round, answer }) => [round, answer?.round]))]
    .filter((round) => typeof round === 'number')
    .sort((a, b) => a - b)
  const setsOf = new Map()
  const sets = attempts.filter(
    ({ act, result, answer }) => act === 'set' && result === 'done' && answer,
  )
  for (const set of sets) {
    const fitting = rounds.filter((round) =>
      isSetWithin(round, set.askedAt, set.settledAt, epochMs),
    )
    for (const round of fitting) setsOf.set(round, (setsOf.get(round) ?? 0) + 1)
    if (fitting.length === 1) found.set(set, fitting[0])
  }
  for (const [set, round] of found) if (setsOf.get(round) > 1) found.delete(set)
  return found
}

/** The time after which an operation with an unknown outcome can no longer happen. */
function expiryOf({ result, askedAt, settledAt }) {
  if (result === 'done') return settledAt
  return settledAt === undefined ? askedAt + EXPIRES_KILLED_MS : settledAt + EXPIRES_MS
}
