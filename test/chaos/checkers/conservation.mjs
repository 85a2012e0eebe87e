// Whether all permits are there when everybody has left: the number in Redis, as it was read at the end.
import { lostFrom } from './windows.mjs'

/** An outcome that was unknown is settled in the background, unless its client ends so soon after that. */
const SETTLING_MS = 10_000

/**
 * Permits with leases: those that are available and those that are taken are as many as there are in all, whatever
 * happened. Without leases, those are missing that a killed process had. Where it is not known whether it had them,
 * they may be missing.
 *
 * @param attempts of one semaphore
 * @param number `{ available, taken }` at the end; undefined where it was not read
 * @returns undefined where nothing can be said: a server may have forgotten it; else `isWrong`, and the bounds
 */
export function judgeConservation(lock, attempts, { numbers, windows, closes }) {
  const [{ family, most }] = attempts
  const number = numbers.get(lock)
  if (number?.available === undefined || lostFrom(windows, lock, attempts) < Infinity) {
    return undefined
  }
  const { available, taken = 0 } = number
  const lost = family === 'semaphore' ? lostBy(attempts, closes) : { surely: 0, maybe: 0 }
  const highest = most - lost.surely
  const lowest = highest - lost.maybe
  const left = available + taken
  return { lock, left, lowest, highest, isWrong: left < lowest || left > highest }
}

/** How many permits were lost, surely and maybe. */
function lostBy(attempts, closes) {
  const killed = new Set(attempts.filter(isOpen).map(({ process }) => process))
  const lost = { surely: 0, maybe: 0 }
  for (const one of attempts) {
    const { permits, process, era, result, releasedAt, released, settledAt } = one
    if (result === 'granted' && one.leftAt === undefined) lost.surely += permits
    else if (isOpen(one)) lost.maybe += permits
    else if (result === 'refused' || released === true) continue
    else {
      const unknownAt = releasedAt ?? settledAt
      const closedAt = closes.get(`${process} ${era}`) ?? Infinity
      if (killed.has(process) || closedAt < unknownAt + SETTLING_MS) lost.maybe += permits
    }
  }
  return lost
}

/** Its process did not live to tell what came of it. */
const isOpen = ({ settledAt, result, releasedAt }) =>
  settledAt === undefined || (result === 'granted' && releasedAt === undefined)
