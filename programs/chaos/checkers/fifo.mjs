// Checks that a fair lock serves its waiters in the order of its queue.
import { disturbances } from './disturbances.mjs'

/** For this long after a fault, a place may be lost and restored, and later waiters may be served meanwhile. */
const AFTER_MS = 5_000
/** The longest time between the moment at which a waiter leaves the queue and the report about it. */
const TOLD_MS = 500

/**
 * After its request, a process looks for its place in the queue in Redis, and reports when it sees the place:
 * `queuedAt`. A request after that time is behind this place. Such a pair is judged if no fault concerned a server or
 * the first client between the first request and the grant to the second.
 *
 * @param attempts of one lock, in the order of their requests
 * @returns the number of judged pairs, the number of pairs that were left out because of a fault, and the pairs in
 * the wrong order
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

/** True if the second waiter was served while the first waiter was in the queue. */
function isInverted(first, second) {
  if (first.result === 'granted') return first.token > second.token
  return (first.settledAt ?? Infinity) > second.settledAt + TOLD_MS
}
