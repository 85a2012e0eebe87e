// Judges a history by two promises: no two holders that exclude each other overlap, and tokens rise.
import { judgeExclusion } from './checkers/exclusion.mjs'
import { judgeTokens } from './checkers/tokens.mjs'
import { epochMs } from './random.mjs'

/**
 * @param holds by lock: the reports of each holder, on one clock
 * @param forgotten the times during which a lock could be taken from its holder: by force, or by a server that forgot
 * it
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
