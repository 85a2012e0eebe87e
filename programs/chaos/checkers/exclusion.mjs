// The rules of exclusion for each kind of primitive.
import { excuseOf } from '../excuses.mjs'
import { actsUntil } from './acts-until.mjs'
import { lostFrom } from './windows.mjs'

/** The end of the time in which the holder acted and assumed that it might act. */
const endOf = (hold) => Math.min(hold.leftAt ?? Infinity, actsUntil(hold))

const isWriter = ({ mode }) => mode === 'write'
const isUpgradable = ({ mode }) => mode === 'upgradable'

/**
 * By kind: the holders in `inside` that exclude `hold`. `isExcused` is true for a holder whose hold a server may have
 * forgotten.
 */
const CONFLICTS = {
  lock: (hold, inside) => inside.filter((one) => !isOfSameOwner(one, hold)),
  'read-write': (hold, inside) =>
    inside.filter(
      (one) =>
        !isOfSameOwner(one, hold) &&
        (isWriter(one) || isWriter(hold) || (isUpgradable(one) && isUpgradable(hold))),
    ),
  permits: (hold, inside, isExcused) => {
    const used = (some) => some.reduce((sum, { permits = 1 }) => sum + permits, hold.permits ?? 1)
    if (used(inside) <= hold.most) return []
    // If there are too many permits even without the excused holders, the other holders are the finding.
    const rest = inside.filter((one) => !isExcused(one))
    return used(rest) > hold.most ? rest : inside.filter(isExcused)
  },
}
CONFLICTS.election = CONFLICTS.lock
CONFLICTS.semaphore = CONFLICTS.permits

const ownerOf = ({ within, id }) => within ?? id
const isOfSameOwner = (one, other) => ownerOf(one) === ownerOf(other)

/**
 * @param all the holds of one lock, in the order in which the holders entered
 * @param forgotten the times in which the lock could be taken from its holders
 * @returns `overlaps`: each with the conflicting hold that ends last; the number of `excused`
 * overlaps, and the longest of them
 */
export function judgeExclusion(lock, all, forgotten) {
  const verdict = { overlaps: [], excused: 0, longestExcusedMs: 0 }
  const conflictsOf = CONFLICTS[all[0].family ?? 'lock']
  if (conflictsOf === undefined) return verdict
  const isWithoutLease = all[0].family === 'semaphore'
  // If a clock is set, only holds with leases may end.
  const windows = isWithoutLease ? forgotten.filter(({ isClock }) => !isClock) : forgotten
  const until = isWithoutLease ? lostFrom(forgotten, lock, all) : Infinity
  let inside = []
  for (const hold of all) {
    const { enteredAt } = hold
    if (enteredAt >= until) break
    if (endOf(hold) <= enteredAt) continue
    inside = inside.filter((one) => endOf(one) > enteredAt)
    const isExcused = (one) => excuseOf(windows, lock, one, hold) !== undefined
    const conflicts = conflictsOf(hold, inside, isExcused)
    if (conflicts.length > 0) {
      const guilty = conflicts.filter((one) => !isExcused(one))
      const first = longest(guilty.length > 0 ? guilty : conflicts)
      const ms = Math.min(endOf(first), endOf(hold)) - enteredAt
      if (guilty.length > 0) verdict.overlaps.push({ lock, ms, first, second: hold })
      else {
        verdict.excused += 1
        verdict.longestExcusedMs = Math.max(verdict.longestExcusedMs, ms)
      }
    }
    inside.push(hold)
  }
  return verdict
}

const longest = (holds) => holds.reduce((best, one) => (endOf(one) > endOf(best) ? one : best))
