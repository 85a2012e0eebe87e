// Checks that the rounds of a cyclic barrier can be explained. If a call reports that all parties had arrived, it
// belongs to one round, and this round has one call for each party. All calls of a round waited at one moment.
import { disturbances } from './disturbances.mjs'
import { WINDOW_MARGIN_MS } from './windows.mjs'

/** For this long after a fault, an answer may be slow or a message may be missing, in milliseconds. */
const FELT_MS = 7_000
/** Without a fault, a party learns within this time that its round is over. */
const KNOWN_MS = 1_000
/**
 * An arrival with an unknown outcome may count for this long. The time covers a late request, a lease, and a clock that
 * was set.
 */
const MAY_COUNT_MS = 6_000
/** After a server has restored arrivals, they count for this long: a little longer than their lease. */
const RESTORED_MS = 2_500
/** No call lasts longer than this. */
const LONGEST_MS = 60_000
/** The search ends without a result after this many configurations. */
const MOST = 20_000

/**
 * @param attempts of one barrier, in the order of their requests
 * @param history with `killed`, the result of `killedIn`
 * @returns the numbers of judged rounds and calls, the number of calls that were left out because a server could
 * forget them, and the findings: `{ lock, what, first, second }`
 */
export function judgeBarrier(lock, attempts, { windows, faults, killed }) {
  const verdict = { rounds: 0, leftOut: 0, awaited: 0, found: [] }
  const find = (what, first, second) => verdict.found.push({ lock, what, first, second })
  const calls = attempts.filter(({ act }) => act === 'await')
  const [{ parties } = {}] = calls
  const lost = windows
    .filter((one) => one.lock === undefined || one.lock === lock)
    .map(({ from, to }) => ({ from: from - WINDOW_MARGIN_MS, to: to + RESTORED_MS }))
  const mayBeLost = (from, to) => lost.some((one) => one.from <= to && one.to >= from)

  const [surely, maybe] = [[], []]
  for (const call of calls) {
    const { askedAt: from, settledAt, result, answer, process } = call
    if (result === 'done') {
      const isExcused = mayBeLost(from, settledAt)
      if (isExcused) verdict.leftOut += 1
      if (answer === true) (isExcused ? maybe : surely).push({ call, from, to: settledAt })
      else if (isExcused) maybe.push({ call, from, to: settledAt })
    } else {
      const endedAt = settledAt ?? killed.get(process) ?? Infinity
      maybe.push({ call, from, to: endedAt + MAY_COUNT_MS })
    }
  }
  verdict.awaited = surely.length
  explain({ surely, maybe, parties, verdict, find })
  judgeEnds({ calls, parties, find, isDisturbed: disturbances([...faults, ...windows], FELT_MS) })
  judgeNumbers(attempts, mayBeLost, find)
  return verdict
}

/**
 * Groups the calls into rounds. Each round is as late as possible: at the first return of its calls. The other calls
 * of the round are the calls that return next. If any grouping explains the calls, such a grouping does too. So the
 * search varies only the number of calls with an unknown outcome in each round. Such a call may have counted before
 * the first call returned. So the search lets it count for longer, by the duration of the longest call.
 */
function explain({ surely, maybe: unknownCalls, parties, verdict, find }) {
  const byEnd = (a, b) => a.to - b.to
  surely.sort(byEnd)
  const longestMs = surely.reduce((most, { from, to }) => Math.max(most, to - from), 0)
  const maybe = unknownCalls.map((one) => ({ ...one, to: one.to + longestMs })).sort(byEnd)
  /** Each configuration has the later calls that are already in a round, and the unknown calls that are in a round. */
  let all = [{ taken: new Set(), used: new Set() }]
  for (const [i, one] of surely.entries()) {
    const next = new Configurations()
    const open = maybe.filter(({ from, to }) => from <= one.to && to >= one.to)
    for (const { taken, used } of all) {
      const others = [...taken].filter((each) => each !== one)
      const still = [...used].filter(({ to }) => to >= one.to)
      if (taken.has(one)) {
        next.add(others, still)
        continue
      }
      const here = waitingAt(surely, i, taken, parties - 1)
      const unknown = open.filter((each) => !used.has(each)).slice(0, parties - 1)
      for (let count = 0; count <= unknown.length; count += 1) {
        const known = parties - 1 - count
        if (known > here.length) continue
        next.add([...others, ...here.slice(0, known)], [...still, ...unknown.slice(0, count)])
      }
    }
    all = next.all
    if (all.length === 0) {
      find('a party continued before all parties had arrived', one.call)
      all = [{ taken: new Set(), used: new Set() }]
    } else if (all.length > MOST) {
      find('too many configurations; undecided', one.call)
      return
    }
  }
  verdict.rounds = Math.floor(surely.length / (parties ?? 1))
}

/** The first calls after `i` that waited when `i` returned and are in no round. */
function waitingAt(surely, i, taken, most) {
  const here = []
  const at = surely[i].to
  for (let j = i + 1; j < surely.length && here.length < most; j += 1) {
    if (surely[j].to > at + LONGEST_MS) break
    if (surely[j].from <= at && !taken.has(surely[j])) here.push(surely[j])
  }
  return here
}

/**
 * The configurations. If two configurations have the same calls, only a configuration that uses fewer unknown calls
 * is kept.
 */
class Configurations {
  all = []
  #byTaken = new Map()

  add(taken, used) {
    const key = taken
      .map(({ call }) => call.id)
      .sort()
      .join()
    const same = this.#byTaken.get(key) ?? []
    if (same.some((one) => [...one.used].every((each) => used.includes(each)))) return
    const made = { taken: new Set(taken), used: new Set(used) }
    this.#byTaken.set(key, [...same, made])
    this.all.push(made)
  }
}

/** Without a fault, enough parties to end a round never wait together for long. */
function judgeEnds({ calls, parties, find, isDisturbed }) {
  const done = calls.filter(({ result }) => result === 'done')
  for (const call of done) {
    const [since, until] = [call.settledAt - KNOWN_MS, call.settledAt]
    if (call.askedAt > since) continue
    const together = done.filter((one) => one.askedAt <= since && one.settledAt >= until)
    if (together.length < parties) continue
    if (isDisturbed(since, until, ...together.map(({ process }) => process))) continue
    find('all parties waited, and their round did not end', together[0], call)
  }
}

/** The number of a round is greater than all earlier numbers. A round ends when its last party arrives. */
function judgeNumbers(attempts, mayBeLost, find) {
  const seen = attempts.filter(({ act, result, answer }) => {
    return act === 'inspect' && result === 'done' && typeof answer?.round === 'number'
  })
  for (const one of seen) {
    const { arrived, parties } = one.answer
    if (arrived >= parties) find('all parties had arrived, and the round was not over', one)
  }
  seen.sort((a, b) => a.settledAt - b.settledAt)
  let newest
  let at = 0
  for (const one of [...seen].sort((a, b) => a.askedAt - b.askedAt)) {
    for (; at < seen.length && seen[at].settledAt < one.askedAt; at += 1) {
      if (newest === undefined || seen[at].answer.round > newest.answer.round) newest = seen[at]
    }
    if (newest === undefined || newest.answer.round <= one.answer.round) continue
    if (!mayBeLost(newest.askedAt, one.settledAt)) find('an older round came back', newest, one)
  }
}
