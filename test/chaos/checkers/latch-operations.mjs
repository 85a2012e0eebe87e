// From what was told of a latch to operations on a model of it.
import { disturbances } from './disturbances.mjs'
import { WINDOW_MARGIN_MS } from './windows.mjs'

/** A request whose answer was this slow may act in the next round. */
const SLOW_MS = 20
/** So long after a fault an answer may be slow, or a message may be missing, in milliseconds. */
const FELT_MS = 7_000
/** `await` gives false at the end of its time. Where no message was lost it has known of the end of its round by then. */
const KNOWN_MS = 1_000
const LEAST_WAIT_MS = 300
/** The server refuses a request so long after it was given up, and so long after it was asked for by a process that died. */
const [EXPIRES_MS, EXPIRES_KILLED_MS] = [3_000, 10_000]

/**
 * @param attempts of one latch
 * @returns `operations`; nothing is known right after a server could forget
 */
export function latchOperationsOf(attempts, { windows, faults }) {
  const [{ lock }] = attempts
  const lost = windows
    .filter((one) => !one.isClock && (one.lock === undefined || one.lock === lock))
    .map(({ from, to }) => ({ from: from - WINDOW_MARGIN_MS, to: to + WINDOW_MARGIN_MS }))
  const clocks = windows.filter(({ isClock }) => isClock)
  const isDisturbed = disturbances([...faults, ...clocks], FELT_MS)
  const operations = lost.map(({ from, to }) => ({ kind: 'forget', from, to, attempt: { lock } }))
  for (const attempt of attempts) {
    const { act: kind, count, round, answer, askedAt: from, settledAt, calledAt, process } = attempt
    const until = settledAt ?? from
    const meanwhile = lost.filter((one) => one.from <= until && one.to >= from)
    // What was asked for while a server could forget may have been done before that, after that, or not at all.
    const isKnown = attempt.result === 'done' && meanwhile.length === 0
    if (!isKnown && (kind === 'await' || kind === 'inspect')) continue
    const expiresAt = isKnown ? Infinity : expiryOf(attempt)
    if (meanwhile.some((one) => one.from <= from && expiresAt <= one.to)) continue
    const to = isKnown ? settledAt : Infinity
    const operation = { kind, count, round, answer, calledAt, from, to, attempt }
    const isFelt = isDisturbed(from, until, process)
    const isSlow = kind !== 'await' && until - from > SLOW_MS
    const isUnclear = isFelt || isSlow || calledAt === undefined
    if (round === undefined && isUnclear) operation.isLoose = true
    // It may end before the first answer comes.
    if (kind === 'await' && answer === false && attempt.waitMs < LEAST_WAIT_MS) continue
    if (kind === 'await' && answer === false && !isFelt) {
      operation.from = Math.max(from, Math.min(to, from + attempt.waitMs - KNOWN_MS))
    }
    if (!isKnown) Object.assign(operation, { answer: undefined, expiresAt })
    operations.push(operation)
  }
  return { operations, endings: [] }
}

/** From when on it is done no more, where nobody knows whether it was. */
function expiryOf({ result, askedAt, settledAt }) {
  if (result === 'done') return settledAt
  return settledAt === undefined ? askedAt + EXPIRES_KILLED_MS : settledAt + EXPIRES_MS
}
