// Who stands in the queue of a fair lock is served before those who come later.
import { disturbances } from './disturbances.mjs'

/** A place can be lost and put back for so long after a fault, and others are served meanwhile. */
const AFTER_MS = 5_000
/** Between the moment at which one leaves the queue and the word of it; who is later than this tells it. */
const TOLD_MS = 500

/**
 * A process looks into the queue in Redis after it asked, and tells when it has seen its place there:
 * `queuedAt`. Who asks after that is behind it. Such pairs are judged where no fault was at work on a
 * server, or on the client of the first, from before it asked until the second was served.
 *
 * @param attempts of one lock, in the order in which they asked
 * @returns how many pairs were judged, how many were left out for a fault, and those in the wrong order
 */
export function judgeOrder(lock, attempts, { faults, windows }) {
  const verdict = { judged: 0, disturbed: 0, inversions: [] }
  const felt = [
    ...faults.filter(({ measured, from, to }) => !measured || to - from >= TOLD_MS),
    ...windows.filter((one) => one.lock === undefined || one.lock === lock),
  ]
  const isDisturbed = disturbances(felt, AFTER_MS)
  let waiting = []
  for (const second of attempts) {
    if (second.lockKind !== 'fair' || second.within !== undefined) continue
    waiting = waiting.filter(({ settledAt = Infinity }) => settledAt > second.askedAt)
    if (second.result === 'granted') {
      for (const first of waiting) {
        if (first.queuedAt > second.askedAt) continue
        if (isDisturbed(first.askedAt, second.settledAt, first.process)) {
          verdict.disturbed += 1
          continue
        }
        verdict.judged += 1
        if (isInverted(first, second)) verdict.inversions.push({ lock, first, second })
      }
    }
    if (second.queuedAt !== undefined) waiting.push(second)
  }
  return verdict
}

/** The second was served while the first stood in the queue. */
function isInverted(first, second) {
  if (first.result === 'granted') return first.token > second.token
  return (first.settledAt ?? Infinity) > second.settledAt + TOLD_MS
}
