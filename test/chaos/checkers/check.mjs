// All that is checked of a history, lock by lock.
import { judgeAsModel } from './as-a-model.mjs'
import { judgeCells } from './cells.mjs'
import { judgeOrder } from './fifo.mjs'
import { judgeLiveness } from './liveness.mjs'

/** Of how many locks the shortest history is looked for. */
const MOST_SHOWN = 5
/** Of how many of a kind more than the number is told. */
const MOST_TOLD = 50

/** @returns figures of what was checked, and what was convicted: plain values, to be sent and printed */
export function check(history) {
  const begin = performance.now()
  const report = {
    about: history.about,
    locks: history.attempts.size,
    attempts: 0,
    operations: 0,
    unknown: 0,
    unexplained: [],
    writes: 0,
    lost: [],
    excusedLost: 0,
    lateWrites: 0,
    refusedWrites: 0,
    stale: [],
    pairs: 0,
    disturbedPairs: 0,
    inversions: [],
  }
  for (const [lock, attempts] of history.attempts) {
    report.attempts += attempts.length
    for (const { result, released } of attempts) {
      if (result === 'granted') report.operations += released === undefined ? 1 : 2
      if (result !== 'granted' && result !== 'refused') report.unknown += 1
      if (released === null || (result === 'granted' && released === undefined)) report.unknown += 1
    }
    const found = judgeAsModel(lock, attempts, history, report.unexplained.length < MOST_SHOWN)
    if (found !== undefined) report.unexplained.push(found)
    const cells = judgeCells(lock, attempts, history.windows)
    report.writes += cells.writes
    report.lost.push(...cells.lost)
    report.excusedLost += cells.excused
    report.lateWrites += cells.late
    report.refusedWrites += cells.refused
    report.stale.push(...cells.stale)
    const order = judgeOrder(lock, attempts, history)
    report.pairs += order.pairs
    report.disturbedPairs += order.disturbed
    report.inversions.push(...order.inversions)
  }
  report.liveness = judgeLiveness(history)
  report.faults = history.faults.filter(({ measured }) => !measured)
  report.convictions = convictionsOf(report)
  for (const all of [report.unexplained, report.lost, report.stale, report.inversions]) {
    all.splice(MOST_TOLD)
  }
  report.liveness.stuck.splice(MOST_TOLD)
  report.tookMs = performance.now() - begin
  return report
}

/** How often each checker found something. */
function convictionsOf({ unexplained, lost, stale, inversions, liveness }) {
  return {
    linearizability: unexplained.length,
    'unfenced cell': lost.length,
    'fenced cell': stale.length,
    order: inversions.length,
    liveness: liveness.stuck.length,
  }
}

export const isConvicted = ({ convictions }) => Object.values(convictions).some((count) => count > 0)
