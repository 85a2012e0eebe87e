// Whether all permits are there when everybody has left: the number in Redis, as it was read at the end.
import { lostFrom } from './windows.mjs'

/** An outcome that was unknown is settled in the background, unless its client ends so soon after that. */
const SETTLING_MS = 10_000

/**
 * Permits with leases: those that are available and those that are taken are as many as there are in all, whatever
 * happened. Without leases, the permits of a killed process are missing. If it is unknown whether the process had them,
 * they may be missing.
 *
 * @param attempts of one semaphore
 * @param history with `killed`, as `killedIn` finds it
 * @param number `{ available, taken }` at the end; undefined where it was not read
 * @returns undefined where nothing can be said: a server may have forgotten it; else `isWrong`, and the bounds
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
 * The processes that did not live to report the end of an attempt, on whatever lock, and when each reported last.
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

/** How many permits were lost, surely and maybe. */
function lostBy(attempts, closes, killed) {
  const lost = { surely: 0, maybe: 0 }
  for (const one of attempts) {
    const { permits, process, era, result, releasedAt, released, settledAt, waits } = one
    const closedAt = closes.get(`${process} ${era}`) ?? Infinity
    // A client that closes releases the permits of work in `using`, whose process may be killed before it reports that.
    const hadThem = result === 'granted' && one.leftAt === undefined && closedAt === Infinity
    // A wait that ended by its time may leave a request without an answer.
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

/** Its process did not live to report the outcome. */
const isOpen = ({ settledAt, result, releasedAt }) =>
  settledAt === undefined || (result === 'granted' && releasedAt === undefined)
