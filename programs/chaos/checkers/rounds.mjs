// Checks that a latch keeps its rounds apart. Each count-down counts once and in its own round. No awaiter continues
// before the end of its round, and no awaiter misses this end.
import { disturbances } from './disturbances.mjs'
import { lostFrom } from './windows.mjs'

/** For this long after a fault, a message may be missing: a little longer than the longest time between two looks. */
const FELT_MS = 7_000
/** If no message was lost, an awaiter learns of the end of its round within this time. */
const KNOWN_MS = 1_000

/**
 * @param attempts of one latch, in the order of their requests
 * @returns the numbers of judged rounds and awaiters, the number of rounds that were left out because a server could
 * forget them, and the findings: `{ lock, what, first, second }`
 */
export function judgeRounds(lock, attempts, { windows, faults }) {
  const verdict = { rounds: 0, leftOut: 0, awaited: 0, found: [] }
  if (attempts[0].act === undefined) return verdict
  const isDisturbed = disturbances([...faults, ...windows], FELT_MS)
  const unnamed = attempts.filter(({ act, round }) => round === undefined && isChange(act))
  for (const all of byRound(attempts).values()) {
    const last = Math.max(...all.map(({ askedAt, settledAt = askedAt }) => settledAt))
    const lost = windows.filter(({ from }) => from <= last)
    if (lostFrom(lost, lock, all) < Infinity) verdict.leftOut += 1
    else {
      verdict.rounds += 1
      judgeRound({ lock, all, unnamed, isDisturbed }, verdict)
    }
  }
  return verdict
}

const isChange = (act) => act === 'count-down' || act === 'delete'

function byRound(attempts) {
  const rounds = new Map()
  for (const one of attempts) {
    const round = one.act === 'inspect' ? one.answer?.round : one.round
    if (!round) continue
    const all = rounds.get(round)
    if (all === undefined) rounds.set(round, [one])
    else all.push(one)
  }
  return rounds
}

function judgeRound({ lock, all, unnamed, isDisturbed }, verdict) {
  const find = (what, first, second) => verdict.found.push({ lock, what, first, second })
  const counted = all.filter(
    ({ act, answer }) => act === 'count-down' && typeof answer === 'number',
  )
  const byAnswer = new Map()
  for (const one of counted) {
    const same = byAnswer.get(one.answer)
    if (same !== undefined) find('two count-downs left the same number', same, one)
    byAnswer.set(one.answer, one)
    const wrong = counted.find((two) => two.settledAt < one.askedAt && two.answer <= one.answer)
    if (wrong !== undefined) find('a later count-down left no fewer', wrong, one)
  }
  // The round needs at least `most` count-downs. A request with an unknown outcome may be one of them.
  const first = all.find(({ act, answer }) => act === 'inspect' && answer)
  const most = Math.max(first?.answer.count ?? 0, ...counted.map(({ answer }) => answer + 1))
  const before = (at) => [...all, ...unnamed].filter((one) => isChange(one.act) && one.askedAt < at)
  const mayBeOver = (at) => {
    const asked = before(at)
    return asked.length >= most || asked.some(({ act }) => act === 'delete')
  }
  const over = all.filter(isEnd).sort((a, b) => a.settledAt - b.settledAt)
  for (const end of over) {
    if (end.act !== 'delete' && !mayBeOver(end.settledAt)) find('it was over too early', first, end)
  }
  const [end] = over
  if (end === undefined) return
  for (const one of all) {
    const { act, answer, askedAt, settledAt, waitMs, process } = one
    if (act === 'count-down' && typeof answer === 'number' && askedAt > end.settledAt) {
      find('a count-down counted after the end of its round', end, one)
    }
    if (act !== 'await' || one.result !== 'done') continue
    verdict.awaited += 1
    const isKnown = end.settledAt < Math.min(askedAt + waitMs, settledAt) - KNOWN_MS
    if (answer === false && isKnown && !isDisturbed(askedAt, settledAt, process)) {
      find('an awaiter missed the end of its round', end, one)
    }
  }
}

/** True if the call reports the end of its round. */
const isEnd = ({ act, answer, result }) =>
  result === 'done' &&
  ((act === 'count-down' && (answer === 0 || answer === null)) ||
    (act === 'delete' && answer === true) ||
    (act === 'await' && answer === true))
