// Runs all checks of a history, for each lock.
import { judgeAsModel } from './as-a-model.mjs'
import { judgeBarrier } from './barrier-rounds.mjs'
import { judgeCells } from './cells.mjs'
import { judgeChanges } from './changes.mjs'
import { judgeConservation, killedIn } from './conservation.mjs'
import { judgeOrder } from './fifo.mjs'
import { judgeLiveness } from './liveness.mjs'
import { judgeRounds } from './rounds.mjs'

/** The number of locks whose shortest history is searched. */
const MOST_SHORTENED = 5
/** The most findings of each kind that are printed. Of the others, only the number is printed. */
const MOST_TOLD = 50

/**
 * @typedef {import('./history.mjs').Attempt} Attempt
 * @typedef {{ lock: string, first: Attempt, second: Attempt }} Pair
 * @typedef {object} Report plain values, to be sent and printed
 * @property {any} about
 * @property {number} locks
 * @property {number} attempts
 * @property {number} unknown the number of outcomes that no process knows
 * @property {{ lock: string, model: string, verdict: string, withoutTokens?: string, shortest: Attempt[] }[]} unexplained
 * @property {{ writes: number, excused: number, late: number, refused: number }} cells
 * @property {Pair[]} lost lost updates
 * @property {Pair[]} stale stale writes that the cell accepted
 * @property {{ judged: number, disturbed: number }} pairs pairs of waiters in the order of a queue
 * @property {Pair[]} inversions
 * @property {{ rounds: number, leftOut: number, awaited: number }} rounds rounds of latches and barriers
 * @property {any[]} misrounded findings about rounds: pairs, with `what`
 * @property {number} changes the number of leaders that the event `changed` reported
 * @property {any[]} mistold findings about these reports: pairs, with `what`
 * @property {any[]} miscounted semaphores that have too many or too few permits
 * @property {number} counted the number of semaphores whose permits were all counted
 * @property {ReturnType<typeof judgeLiveness>} liveness
 * @property {any[]} faults
 * @property {Record<string, number>} operations by kind
 * @property {Record<string, number>} violations by kind
 * @property {Record<string, number>} convictions the number of findings of each checker
 * @property {number} tookMs
 */

/**
 * @param history a `History`
 * @returns {Report} the numbers and the findings
 */
export function check(history) {
  const begin = performance.now()
  const found = {
    unexplained: [],
    lost: [],
    stale: [],
    inversions: [],
    miscounted: [],
    misrounded: [],
  }
  const cells = { writes: 0, excused: 0, late: 0, refused: 0 }
  const pairs = { judged: 0, disturbed: 0 }
  const rounds = { rounds: 0, leftOut: 0, awaited: 0 }
  let [attempts, unknown, counted] = [0, 0, 0]
  const killed = killedIn(history.attempts)
  for (const [lock, all] of history.attempts) {
    attempts += all.length
    unknown += all.filter(isUnknown).length
    const isShortened = found.unexplained.length < MOST_SHORTENED
    const one = judgeAsModel(lock, all, history, { isShortened })
    if (one !== undefined) found.unexplained.push(one)
    const written = judgeCells(lock, all, history.windows)
    for (const what in cells) cells[what] += written[what]
    found.lost.push(...written.lost)
    found.stale.push(...written.stale)
    const order = judgeOrder(lock, all, history)
    for (const what in pairs) pairs[what] += order[what]
    found.inversions.push(...order.inversions)
    const { numbers, windows, faults, closes } = history
    const isBarrier = all[0].family === 'barrier'
    const judged = isBarrier
      ? judgeBarrier(lock, all, { windows, faults, killed })
      : judgeRounds(lock, all, history)
    for (const what in rounds) rounds[what] += judged[what]
    found.misrounded.push(...judged.found)
    const number = judgeConservation(lock, all, { numbers, windows, closes, killed })
    if (number !== undefined) counted += 1
    if (number?.isWrong) found.miscounted.push(number)
  }
  const liveness = judgeLiveness(history)
  const changes = judgeChanges(history.changes)
  found.mistold = changes.found
  const convictions = {
    linearizability: found.unexplained.length,
    'unfenced cell': found.lost.length,
    'fenced cell': found.stale.length,
    order: found.inversions.length,
    rounds: found.misrounded.length,
    'leaders told': found.mistold.length,
    conservation: found.miscounted.length,
    liveness: liveness.stuck.length,
  }
  const violations = countByKind(history, [...Object.values(found), liveness.stuck].flat())
  for (const all of [...Object.values(found), liveness.stuck]) all.splice(MOST_TOLD)
  const faults = history.faults.filter(({ measured }) => !measured)
  const { about } = history
  const { operations, attempts: byName } = history
  const figures = {
    about,
    locks: byName.size,
    attempts,
    unknown,
    counted,
    operations,
    cells,
    pairs,
    rounds,
    changes: changes.judged,
    violations,
  }
  const tookMs = performance.now() - begin
  return { ...figures, ...found, liveness, faults, convictions, tookMs }
}

/** The number of findings for each kind. */
function countByKind(history, findings) {
  const counts = {}
  for (const { lock } of findings) {
    const { family = 'lock' } = history.attempts.get(lock)?.[0] ?? { family: 'election' }
    counts[family] = (counts[family] ?? 0) + 1
  }
  return counts
}

function isUnknown({ act, result, released }) {
  if (act !== undefined) return result !== 'done'
  if (result === 'refused') return false
  return result !== 'granted' || released === undefined || released === null
}

export const isConvicted = ({ convictions }) =>
  Object.values(convictions).some((count) => count > 0)
