// What a history says of the promises: at most one valid holder, and tokens that rise.
import { actsUntil } from './checkers/acts-until.mjs'
import { excuseOf } from './excuses.mjs'

/**
 * @param holds by lock: what each holder told, on one clock
 * @param forgotten from when to when a lock was taken from whoever had it, by force or by a server that forgot
 */
export function judge(holds, forgotten) {
  const verdict = {
    holds: 0,
    overlaps: [],
    excused: 0,
    longestExcusedMs: 0,
    regressions: [],
    repeated: [],
    entries: [],
  }
  for (const [lock, all] of holds) {
    all.sort((a, b) => a.enteredAt - b.enteredAt)
    verdict.holds += all.length
    for (const { enteredAt } of all) verdict.entries.push(enteredAt)
    findOverlaps(lock, all, forgotten, verdict)
    findRegressions(lock, all, verdict)
  }
  verdict.entries.sort((a, b) => a - b)
  return verdict
}

/** Until when it acted, and believed that it might. */
const endOf = (hold) => Math.min(hold.leftAt ?? Infinity, actsUntil(hold))

function findOverlaps(lock, all, forgotten, verdict) {
  let last
  for (const hold of all) {
    if (endOf(hold) <= hold.enteredAt) continue
    if (last !== undefined && hold.enteredAt < endOf(last)) {
      const ms = Math.min(endOf(last), endOf(hold)) - hold.enteredAt
      const first = last
      const excuse = excuseOf(forgotten, lock, first, hold)
      if (excuse === undefined) verdict.overlaps.push({ lock, ms, first, second: hold })
      else {
        verdict.excused += 1
        verdict.longestExcusedMs = Math.max(verdict.longestExcusedMs, ms)
      }
    }
    if (last === undefined || endOf(hold) > endOf(last)) last = hold
  }
}

/** Who asked after another had entered has a higher token than that one. */
function findRegressions(lock, all, verdict) {
  const highest = []
  const tokens = new Map()
  for (const hold of all) {
    const before = lastBefore(all, hold.askedAt, highest.length)
    const floor = before === -1 ? undefined : highest[before]
    if (floor !== undefined && hold.token <= floor.token) {
      verdict.regressions.push({ lock, first: floor, second: hold })
    }
    const same = tokens.get(hold.token)
    if (same !== undefined && hold.token !== undefined)
      verdict.repeated.push({ lock, first: same, second: hold })
    tokens.set(hold.token, hold)
    const top = highest.at(-1)
    highest.push(top === undefined || hold.token > top.token ? hold : top)
  }
}

/** The index of the last that entered before that time, among the first `count`. */
function lastBefore(all, at, count) {
  let [low, high] = [0, count]
  while (low < high) {
    const middle = (low + high) >> 1
    if (all[middle].enteredAt < at) low = middle + 1
    else high = middle
  }
  return low - 1
}
