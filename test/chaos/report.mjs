// What a run has found, in words.
import { isConvicted } from './checkers/check.mjs'
import { printReport } from './checkers/print.mjs'

export const isClean = ({ verdict, report, violations }) =>
  !isConvicted(report) &&
  verdict.overlaps.length +
    verdict.regressions.length +
    verdict.repeated.length +
    violations.length ===
    0

export const countOf = (faults) => Object.values(faults).reduce((sum, n) => sum + n, 0)

export function print(result) {
  const { world, seed, seconds, verdict, faults, failures, violations, timeline } = result
  const flags = ['forget', 'force', 'broken', 'control'].filter((flag) => result[flag])
  const words = flags.map((flag) => `, ${flag}${result[flag] === true ? '' : ` ${result[flag]}`}`)
  console.log(
    `world ${world}${words.join('')}, seed ${seed}: ` +
      `${verdict.holds} acquisitions, ${countOf(faults)} faults in ${seconds.toFixed(0)} s; ` +
      `overlaps ${verdict.overlaps.length}, tokens out of order ${verdict.regressions.length}, ` +
      `tokens twice ${verdict.repeated.length}, excused overlaps ${verdict.excused} ` +
      `(longest ${verdict.longestExcusedMs.toFixed(0)} ms), other violations ${violations.length}`,
  )
  console.log(`  faults: ${listed(faults)}`)
  console.log(`  what callers were told: ${listed(failures)}`)
  if (result.report !== undefined) printReport(result.report)
  const shown = [
    ...verdict.overlaps.slice(0, 5).map((one) => ['overlap', one]),
    ...verdict.regressions.slice(0, 5).map((one) => ['token out of order', one]),
    ...verdict.repeated.slice(0, 5).map((one) => ['token twice', one]),
  ]
  for (const [what, { lock, ms, first, second }] of shown) {
    console.log(`${what} on ${lock}${ms === undefined ? '' : `, ${ms.toFixed(1)} ms`}`)
    for (const hold of [first, second]) console.log(`  ${historyOf(hold, result.startedAt)}`)
    const asked = result.monitor?.around(lock, first.enteredAt - 100, second.enteredAt + 100) ?? []
    for (const { at, port, words } of asked) {
      const seconds = ((at - result.startedAt) / 1_000).toFixed(4)
      console.log(`    ${seconds} server ${port}: ${words}`)
    }
  }
  if (isClean(result) || result.control || result.broken) return
  for (const one of violations.slice(0, 20)) console.log(one)
  console.log('faults:')
  for (const line of timeline.slice(-300)) console.log(`  ${line}`)
}

function historyOf({ id, askedAt, enteredAt, leftAt, validUntil, token }, startedAt) {
  const at = (time) => (time === undefined ? 'never' : ((time - startedAt) / 1_000).toFixed(4))
  return `${id}: asked ${at(askedAt)}, entered ${at(enteredAt)}, left ${at(leftAt)}, valid until ${at(validUntil)}, token ${token}`
}

function listed(counts) {
  const words = Object.entries(counts).sort(([, a], [, b]) => b - a)
  return words.map(([what, n]) => `${what} ${n}`).join(', ') || 'none'
}

/** All results of one world together. */
export function totalsOf(results) {
  const sum = (figureOf) => results.reduce((total, one) => total + figureOf(one), 0)
  const faults = {}
  for (const one of results) {
    for (const [what, n] of Object.entries(one.faults)) faults[what] = (faults[what] ?? 0) + n
  }
  return {
    faults,
    acquisitions: sum(({ verdict }) => verdict.holds),
    seconds: sum(({ seconds }) => seconds),
    overlaps: sum(({ verdict }) => verdict.overlaps.length),
    stale: sum(({ verdict }) => verdict.regressions.length + verdict.repeated.length),
    excused: sum(({ verdict }) => verdict.excused),
    longestExcusedMs: Math.max(0, ...results.map(({ verdict }) => verdict.longestExcusedMs)),
    left: sum(({ left }) => left.length),
    others: sum(
      ({ violations, left, report }) =>
        violations.length -
        left.length +
        Object.values(report.convictions).reduce((a, b) => a + b, 0),
    ),
  }
}

const HEADINGS = [
  'world',
  'seconds',
  'acquisitions',
  'faults',
  'overlaps',
  'stale tokens',
  'leaked keys',
  'other violations',
  'excused',
]

/** One row for each world, and one for all. */
function rowsOf(results) {
  const worlds = [...new Set(results.map(({ world }) => world))]
  const groups = worlds.map((world) => [world, results.filter((one) => one.world === world)])
  return [...groups, ['all', results]].map(([name, some]) => {
    const total = totalsOf(some)
    const { acquisitions, seconds, overlaps, stale, left, others, excused, longestExcusedMs } =
      total
    const lost = excused === 0 ? '0' : `${excused}, of ${longestExcusedMs.toFixed(0)} ms at most`
    const counts = [seconds.toFixed(0), acquisitions, countOf(total.faults), overlaps, stale]
    return [name, ...counts, left, others, lost].map(String)
  })
}

/** As Markdown, which can be read on a screen as well. */
export function tableOf(results) {
  const rows = [HEADINGS, HEADINGS.map((_, i) => (i === 0 ? '---' : '---:')), ...rowsOf(results)]
  return rows.map((row) => `| ${row.join(' | ')} |`).join('\n')
}

export function markdown(results, seed) {
  const { faults } = totalsOf(results)
  const kinds = Object.entries(faults).sort(([, a], [, b]) => b - a)
  const worlds = [...new Set(results.map(({ world }) => world))]
  const byWorld = worlds.map(
    (world) => totalsOf(results.filter((one) => one.world === world)).faults,
  )
  return [
    '# Locks under faults',
    '',
    'Made by `npm run chaos -- --long`. Processes use locks of every kind while clients, connections and',
    'servers fail; a process apart writes down who was inside when, on its own clock. An overlap is two',
    'holders at once who both believed that they were alone. It is excused where a server had forgotten the',
    'lock of the first, or had been replaced by one that never heard of it: no single server can prevent that.',
    '',
    `Seed ${seed}; ${results.every(isClean) ? 'nothing was found that must not be' : 'VIOLATIONS WERE FOUND'}.`,
    '',
    tableOf(results),
    '',
    '## Faults by kind',
    '',
    `| fault | ${worlds.join(' | ')} | all |`,
    `|---|${worlds.map(() => '---:|').join('')}---:|`,
    ...kinds.map(
      ([what, n]) => `| ${what} | ${byWorld.map((some) => some[what] ?? 0).join(' | ')} | ${n} |`,
    ),
    '',
  ].join('\n')
}
