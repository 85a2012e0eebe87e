// Checks that all permits are available after all holders have left. The number was read from Redis at the end.
import { lostFrom } from './windows.mjs'

/** A client settles an unknown outcome in the background, unless the client ends within this time. */
const SETTLING_MS = 10_000

/**
 * With leases, the available permits and the acquired permits are always as many as all permits together. Without
 * leases, the permits of a killed process are missing. If it is unknown if the process had permits, these permits may
 * be missing.
 *
 * @param attempts of one semaphore
 * @param history with `killed`, the result of `killedIn`
 * @param number `{ available, taken }` at the end; undefined if it was not read
 * @returns `isWrong` and the bounds; undefined if a server may have forgotten the number
 */
export function judgeConservation(lock, attempts, { numbers, windows, closes, killed }) {
  const [{ family, most }] = attempts
  const number = numbers.get(lock)
  if (number?.available === undefined || lostFrom(windows, lock, attempts) < Infinity) {
    return undefined
  }
  const { available, taken = 0 } = number
  const lost = family === 'semaphore' ? lostBy(attempts, closes, killed) : { surely: 0, maybe: 0 }
  const highest = most - lost.surely
  const lowest = highest - lost.maybe
  const left = available + taken
  return { lock, left, lowest, highest, isWrong: left < lowest || left > highest }
}

/**
 * The processes that were killed before they reported the end of an attempt, on any lock, and the time of the last
 * report of each.
 *
 * @param attempts of all locks, by lock
 * @returns {Map<string, number>}
 */
export function killedIn(attempts) {
  const [lastAt, killed] = [new Map(), new Set()]
  for (const all of attempts.values()) {
    for (const one of all) {
      const { process, askedAt, settledAt = 0, leftAt = 0, releasingAt = 0, releasedAt = 0 } = one
      const at = Math.max(askedAt, settledAt, leftAt, releasingAt, releasedAt)
      lastAt.set(process, Math.max(lastAt.get(process) ?? 0, at))
      if (isOpen(one)) killed.add(process)
    }
  }
  return new Map([...killed].map((process) => [process, lastAt.get(process)]))
}

/** The number of permits that were lost certainly, and the number that may have been lost. */
function lostBy(attempts, closes, killed) {
  const lost = { surely: 0, maybe: 0 }
  for (const one of attempts) {
    const { permits, process, era, result, releasedAt, released, settledAt, waits } = one
    const closedAt = closes.get(`${process} ${era}`) ?? Infinity
    // A client that closes releases the permits of `using`. Its process may be killed before it reports the release.
    const hadThem = result === 'granted' && one.leftAt === undefined && closedAt === Infinity
    // A wait that ended at its timeout may leave a request without an answer.
    const isRefused = result === 'refused' && !waits
    if (hadThem) lost.surely += permits
    else if (isOpen(one)) lost.maybe += permits
    else if (isRefused || released === true) continue
    else {
      const settledBy = (releasedAt ?? settledAt) + SETTLING_MS
      if ((killed.get(process) ?? Infinity) < settledBy || closedAt < settledBy)
        lost.maybe += permits
    }
  }
  return lost
}

/** True if the process was killed before it reported the outcome. */
const isOpen = ({ settledAt, result, releasedAt }) =>
  settledAt === undefined || (result === 'granted' && releasedAt === undefined)
