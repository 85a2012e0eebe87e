// Prints the checks and the findings in words.
import { isConvicted } from './check.mjs'

/** From how long before to how long after a finding its faults are printed, in milliseconds. */
const [BEFORE_MS, AFTER_MS] = [3_000, 500]

export function printReport(report, print = console.log) {
  const { about, locks, attempts, unknown, liveness } = report
  const numbers = (count) => count.toLocaleString('en')
  print(
    `checked ${locks} locks in ${(report.tookMs / 1_000).toFixed(1)} s: ${numbers(attempts)} attempts ` +
      `(${numbers(unknown)} with an unknown outcome) against the models; ` +
      `${numbers(report.cells.writes)} writes to the cells (${report.cells.late} too late, ` +
      `${report.cells.refused} refused for their tokens, ${report.cells.excused} lost with an excuse); ` +
      `${numbers(report.pairs.judged)} pairs in the order of a queue (${numbers(report.pairs.disturbed)} ` +
      `left out for faults); ${roundsOf(report, numbers)}; the permits of ${numbers(report.counted)} semaphores counted at the end; ` +
      calmsOf(liveness),
  )
  if (!isConvicted(report)) return
  const found = Object.entries(report.convictions).filter(([, count]) => count > 0)
  print(`CONVICTED, seed ${about.seed}: ${found.map(([what, n]) => `${what} ${n}`).join(', ')}`)
  const startedAt = about.startedAt ?? 0
  const show = (head, some) => {
    print(head)
    for (const line of historyLines(some, startedAt)) print(`  ${line}`)
    for (const line of faultLines(report.faults, some, startedAt)) print(`    ${line}`)
  }
  for (const one of report.unexplained.slice(0, 3)) show(headOf(one), one.shortest)
  for (const [what, all] of pairsOf(report)) {
    for (const { lock, first, second } of all.slice(0, 2)) show(`${lock}: ${what}`, [first, second])
  }
  for (const { lock, what, first, second } of report.misrounded.slice(0, 4)) {
    show(`${lock}: ${what}`, [first, second].filter(Boolean))
  }
  for (const { lock, what, first, second } of report.mistold.slice(0, 4)) {
    const told = ({ process, at, token, owner }) =>
      `${process} at ${timeOf(at, startedAt)}: ${token} ${owner}`
    print(`${lock}: ${what}: ${told(first)}; ${told(second)}`)
  }
  for (const { lock, left, lowest, highest } of report.miscounted.slice(0, 5)) {
    const most = lowest === highest ? `${highest}` : `${lowest} to ${highest}`
    print(`${lock}: ${left} permits are there at the end instead of ${most}`)
  }
  for (const { lock, mode, from, waitedMs, boundMs, after } of liveness.stuck.slice(0, 5)) {
    print(
      `${lock}${mode === undefined ? '' : `, to ${mode}`}: nobody was let in for ${waitedMs.toFixed(0)} ms from ${timeOf(from, startedAt)} on, ` +
        `although somebody waited; the bound after ${after.join(', ') || 'no fault'} is ${boundMs} ms`,
    )
  }
}

function calmsOf({ stretches, longestMs }) {
  if (stretches === 0) return 'liveness NOT JUDGED, no stretch without a fault was long enough'
  return `liveness in ${stretches} stretches without a fault (nobody let in for ${longestMs.toFixed(0)} ms at most)`
}

function roundsOf({ rounds: { rounds, leftOut, awaited }, changes }, numbers) {
  return `${numbers(rounds)} rounds of latches and barriers (${numbers(leftOut)} left out for losses), awaited ${numbers(awaited)} times; ${numbers(changes)} leaders told`
}

function headOf({ lock, model, verdict, withoutTokens, shortest }) {
  if (verdict === 'undecided') return `${lock}: too many states; undecided as a ${model}`
  const tokens = withoutTokens === 'linearizable' ? ' for its tokens; without them it can' : ''
  const most = shortest.length > 0 ? '; the shortest part that cannot:' : ''
  return `${lock}: cannot be explained as a ${model}${tokens}${most}`
}

const pairsOf = ({ lost, stale, inversions }) => [
  ['the second overwrote what the first wrote, and both leases were valid', lost],
  ['the write of the second was accepted after that of the first, who came later', stale],
  ['the second was served before the first, who stood in the queue when it asked', inversions],
]

const timeOf = (at, startedAt) => ((at - startedAt) / 1_000).toFixed(4)

/** The operations of each attempt, in the order of time. */
export function historyLines(attempts, startedAt) {
  const at = (time) => (time ? timeOf(time, startedAt) : '?')
  const lines = attempts.flatMap((one) => {
    if (one.act !== undefined) return [latchLine(one)]
    const who = `${one.id}${one.caller ? ` (caller ${one.caller})` : ''}`
    const what =
      one.within === undefined
        ? `acquire, ${wordsOf(one)}`
        : `within ${one.within}, ${wordsOf(one)}`
    const token =
      one.token === undefined ? '' : ` token ${one.token}, valid until ${at(one.validUntil)}`
    const lines = [[one.askedAt, one.settledAt, who, what, `${one.result ?? 'unknown'}${token}`]]
    if (one.enteredAt) lines.push([one.enteredAt, one.leftAt, who, 'inside', ''])
    if (one.releasingAt) {
      const came = { true: 'released', false: 'was gone already' }[one.released] ?? 'unknown'
      lines.push([one.releasingAt, one.releasedAt, who, 'release', came])
    }
    return lines
  })
  return lines
    .sort(([a], [b]) => a - b)
    .map(([from, to, ...words]) => `${at(from)} to ${at(to)}  ${words.filter(Boolean).join('  ')}`)
}

function latchLine({
  id,
  caller,
  act,
  count,
  parties,
  round,
  waitMs,
  answer,
  result,
  askedAt,
  settledAt,
}) {
  const said = [count ?? parties, round, waitMs && `within ${waitMs} ms`].filter(Boolean).join(', ')
  const came = result === 'done' ? JSON.stringify(answer) : (result ?? 'unknown')
  return [askedAt, settledAt, `${id} (caller ${caller})`, `${act}(${said})`, came]
}

function wordsOf({ family, lockKind = 'plain', mode, permits }) {
  if (mode !== undefined) return mode
  if (permits !== undefined) return `${permits} of ${family}`
  return family ?? lockKind
}

function faultLines(faults, attempts, startedAt) {
  const times = attempts.flatMap(({ askedAt, settledAt, leftAt, releasedAt }) =>
    [askedAt, settledAt, leftAt, releasedAt].filter(Boolean),
  )
  const [from, to] = [Math.min(...times) - BEFORE_MS, Math.max(...times) + AFTER_MS]
  return faults
    .filter((one) => one.to >= from && one.from <= to)
    .sort((a, b) => a.from - b.from)
    .map(({ what, where = '', ...one }) => {
      const words = where === '' ? what : `${what}, ${where}`
      return `fault ${timeOf(one.from, startedAt)} to ${timeOf(one.to, startedAt)}  ${words}`
    })
}
