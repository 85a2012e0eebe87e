// Prints and writes the results of a run.
import { isConvicted } from './checkers/check.mjs'
import { printReport } from './checkers/print.mjs'
import { KINDS } from './kinds.mjs'

export const isClean = ({ verdict, report, violations }) =>
  (report === undefined || !isConvicted(report)) &&
  verdict.overlaps.length +
    verdict.regressions.length +
    verdict.repeated.length +
    violations.length ===
    0

/** True if some histories are undecided, and there is no other finding. */
export function isOnlyUndecided(result) {
  const { report } = result
  if (report === undefined) return false
  const undecided = report.unexplained.filter(({ verdict }) => verdict === 'undecided').length
  const { linearizability } = report.convictions
  const convictions = { ...report.convictions, linearizability: linearizability - undecided }
  return undecided > 0 && isClean({ ...result, report: { ...report, convictions } })
}

export const countOf = (faults) => Object.values(faults).reduce((sum, n) => sum + n, 0)

export function print(result) {
  const { world, seed, seconds, verdict, faults, failures, violations, timeline } = result
  const flags = ['forget', 'force', 'broken', 'control'].filter((flag) => result[flag])
  const words = flags.map((flag) => `, ${flag}${result[flag] === true ? '' : ` ${result[flag]}`}`)
  console.log(
    `world ${world}${words.join('')}, seed ${seed}: ` +
      `${result.report ? operationsOf(result) : verdict.holds} operations, ${countOf(faults)} faults in ${seconds.toFixed(0)} s; ` +
      `overlaps ${verdict.overlaps.length}, tokens out of order ${verdict.regressions.length}, ` +
      `tokens twice ${verdict.repeated.length}, excused overlaps ${verdict.excused} ` +
      `(longest ${verdict.longestExcusedMs.toFixed(0)} ms), other violations ${violations.length}`,
  )
  console.log(`  faults: ${listed(faults)}`)
  if (result.report) console.log(`  operations: ${listed(result.report.operations)}`)
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

const operationsOf = ({ report }) =>
  Object.values(report.operations).reduce((total, count) => total + count, 0)

/** The sums over several results, for example over all results of one world. */
export function totalsOf(results) {
  const sum = (figureOf) => results.reduce((total, one) => total + figureOf(one), 0)
  const faults = {}
  for (const one of results) {
    for (const [what, n] of Object.entries(one.faults)) faults[what] = (faults[what] ?? 0) + n
  }
  const undecided = ({ report }) =>
    report.unexplained.filter(({ verdict }) => verdict === 'undecided').length
  const stale = ({ report }) => report.convictions['fenced cell']
  return {
    faults,
    seconds: sum(({ seconds }) => seconds),
    operations: sum(operationsOf),
    ofKind: Object.fromEntries(
      KINDS.map((kind) => [kind, sum(({ report }) => report.operations[kind] ?? 0)]),
    ),
    overlaps: sum(({ verdict }) => verdict.overlaps.length),
    outOfOrder: sum(({ verdict }) => verdict.regressions.length),
    twice: sum(({ verdict }) => verdict.repeated.length),
    stale: sum(stale),
    left: sum(({ left }) => left.length),
    locks: sum(({ report }) => report.locks),
    unexplained: sum((one) => one.report.unexplained.length - undecided(one)),
    undecided: sum(undecided),
    stretches: sum(({ report }) => report.liveness.stretches),
    stuck: sum(({ report }) => report.convictions.liveness),
    pairs: sum(({ report }) => report.pairs.judged),
    rounds: sum(({ report }) => report.rounds.rounds),
    counted: sum(({ report }) => report.counted),
    changes: sum(({ report }) => report.changes),
    others: sum(
      (one) =>
        one.violations.length -
        one.left.length +
        ['unfenced cell', 'order', 'rounds', 'conservation', 'leaders told'].reduce(
          (total, what) => total + one.report.convictions[what],
          0,
        ),
    ),
    excused: sum(({ verdict }) => verdict.excused),
    longestExcusedMs: Math.max(0, ...results.map(({ verdict }) => verdict.longestExcusedMs)),
  }
}

/** The title of each column, and its text from the result of `totalsOf`. */
const COLUMNS = {
  seconds: ({ seconds }) => seconds.toFixed(0),
  operations: ({ operations }) => operations,
  ...Object.fromEntries(KINDS.map((kind) => [`… ${kind}`, ({ ofKind }) => ofKind[kind]])),
  faults: ({ faults }) => countOf(faults),
  overlaps: ({ overlaps }) => overlaps,
  'tokens out of order': ({ outOfOrder }) => outOfOrder,
  'tokens twice': ({ twice }) => twice,
  'stale tokens accepted': ({ stale }) => stale,
  'leaked keys': ({ left }) => left,
  'histories of locks checked': ({ locks }) => locks,
  'not linearizable': ({ unexplained }) => unexplained,
  undecided: ({ undecided }) => undecided,
  'calms judged': ({ stretches }) => stretches,
  'no caller got in': ({ stuck }) => stuck,
  'pairs in a queue judged': ({ pairs }) => pairs,
  'rounds of latches and barriers judged': ({ rounds }) => rounds,
  'semaphores counted at the end': ({ counted }) => counted,
  'changes of leaders judged': ({ changes }) => changes,
  'other violations': ({ others }) => others,
  'overlaps excused': ({ excused, longestExcusedMs: ms }) =>
    excused === 0 ? 0 : `${excused}, of ${ms.toFixed(0)} ms at most`,
}

const worldsOf = (results) => [...new Set(results.map(({ world }) => world))]

/** A Markdown table with a row for each kind: its operations, the faults of its runs, and the violations. */
export function tableOfKinds(results) {
  const rows = KINDS.map((kind) => {
    const some = results.filter(({ report }) => kind in report.operations)
    const { faults, ofKind } = totalsOf(some)
    const found = some.reduce((total, one) => total + violationsOf(one, kind), 0)
    const worlds = worldsOf(some).join(', ')
    return [kind, ofKind[kind], countOf(faults), found, worlds]
  })
  const head = ['kind', 'operations', 'faults in these runs', 'violations', 'in']
  return [head, ['---', '---:', '---:', '---:', '---'], ...rows]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n')
}

function violationsOf({ verdict, report }, kind) {
  const pairs = [...verdict.overlaps, ...verdict.regressions, ...verdict.repeated]
  const ofKind = pairs.filter(({ first }) => (first.family ?? 'lock') === kind)
  return ofKind.length + (report.violations[kind] ?? 0)
}

/** A Markdown table with a row for each number, a column for each world, and a column for all worlds. */
export function tableOf(results) {
  const worlds = worldsOf(results)
  const groups = [...worlds.map((name) => results.filter(({ world }) => world === name)), results]
  const totals = groups.map(totalsOf)
  const rows = [
    ['', ...worlds, 'all'],
    ['---', ...totals.map(() => '---:')],
    ...Object.entries(COLUMNS).map(([name, figureOf]) => [name, ...totals.map(figureOf)]),
  ]
  return rows.map((row) => `| ${row.join(' | ')} |`).join('\n')
}

const NAVIGATION = '[Index](../README.md)'

/** @param options of the long run */
export function markdown(results, { seed, minutes }, { operations, faults: wanted }) {
  const { faults } = totalsOf(results)
  const kinds = Object.entries(faults).sort(([, a], [, b]) => b - a)
  const worlds = worldsOf(results)
  const byWorld = worlds.map(
    (world) => totalsOf(results.filter((one) => one.world === world)).faults,
  )
  const count = (number) => number.toLocaleString('en')
  const day = new Date().toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' })
  return [
    '# A long run under faults',
    '',
    NAVIGATION,
    '',
    'On this page: [By deployment](#by-deployment) · [Faults by kind](#faults-by-kind) · [Runs](#runs)',
    '',
    '```sh',
    `npm run chaos -- --long --seed ${seed} --minutes ${minutes} --report docs/explanation/chaos-report.md`,
    '```',
    '',
    `The command above wrote the figures of this page on ${day}. Processes use the kinds of the first table while`,
    'clients, connections and servers fail. A separate process records every holder by its own clock. [Under',
    'faults](chaos.md) describes the worlds, the faults and the judges.',
    '',
    '- An **operation** is an acquisition, a count-down of a latch, one round of a latch, or a call that passes a',
    '  barrier.',
    '- An **overlap** means that two holders that exclude each other held a lock together, and both leases were valid. More',
    '  permits in use than exist are an overlap too.',
    '- An overlap is **excused** if a server forgot the lock of the first holder, or if a server without this lock took',
    '  over. No single server can prevent such an overlap.',
    `- The run ends after ${count(operations)} operations and ${count(wanted)} faults, or when the time is up.`,
    '',
    results.every(isClean)
      ? '**No violation was found.**'
      : '**Violations were found**: the seeds below have them.',
    '',
    tableOfKinds(results),
    '',
    '## By deployment',
    '',
    tableOf(results),
    '',
    'Each run uses the same names again, so a lock has one history in each run. A calm is a time without faults. It is so',
    'long that all clients have recovered from earlier faults. If callers wait during a calm, at least one caller must',
    'acquire the lock. Independent masters support plain locks only.',
    '',
    '## Faults by kind',
    '',
    `| fault | ${worlds.join(' | ')} | all |`,
    `|---|${worlds.map(() => '---:|').join('')}---:|`,
    ...kinds.map(
      ([what, n]) => `| ${what} | ${byWorld.map((some) => some[what] ?? 0).join(' | ')} | ${n} |`,
    ),
    '',
    '## Runs',
    '',
    'The same seed gives the same faults in the same order. The runs still differ, because their timing differs.',
    '',
    '```sh',
    ...results.map(commandOf),
    '```',

    '',
  ].join('\n')
}

function commandOf(result) {
  const { world, seed, gaps } = result
  const flags = ['forget', 'force'].filter((flag) => result[flag]).map((flag) => ` --${flag}`)
  const seconds = Math.round(result.stormSeconds)
  const kinds = result.kinds.length < KINDS.length ? ` --kinds ${result.kinds.join()}` : ''
  const words = `--world ${world}${kinds}${flags.join('')} --seconds ${seconds} --fast ${result.fast}${gaps === 1 ? '' : ` --gaps ${gaps}`} --seed ${seed}`
  const found = isClean(result) ? '' : '  # violations'
  return `npm run chaos -- ${words}${found}`
}
