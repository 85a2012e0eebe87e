// What a history says of the promises: nobody inside beside somebody who excludes it, and tokens that rise.
import { judgeExclusion } from './checkers/exclusion.mjs'
import { judgeTokens } from './checkers/tokens.mjs'
import { epochMs } from './random.mjs'

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
  }
  for (const [lock, all] of holds) {
    all.sort((a, b) => a.enteredAt - b.enteredAt)
    verdict.holds += all.length
    const { overlaps, excused, longestExcusedMs } = judgeExclusion(lock, all, forgotten)
    verdict.overlaps.push(...overlaps)
    verdict.excused += excused
    verdict.longestExcusedMs = Math.max(verdict.longestExcusedMs, longestExcusedMs)
    const { regressions, repeated } = judgeTokens(lock, all, forgotten, epochMs())
    verdict.regressions.push(...regressions)
    verdict.repeated.push(...repeated)
  }
  return verdict
}
