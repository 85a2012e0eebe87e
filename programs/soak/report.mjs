// Describes a run in words and tables, for the terminal and as a page.
import { median, quantile } from './judge.mjs'

export function print(result, verdict) {
  const { options } = result
  const { operations, failed, faults, hours } = totalsOf(result)
  for (const { name, unit, first, last, grew } of verdict.series) {
    console.log(`${grew ? 'GREW' : 'flat'}  ${name}: ${show(first)} to ${show(last)} ${unit}`)
  }
  console.log(
    `soak, seed ${options.seed}: ${verdict.isGood ? 'good' : 'NOT GOOD'}, ${hours.toFixed(2)} hours, ` +
      `${operations} operations, ${failed} failed, ${faults} faults, ${result.unexpected.length} unexpected`,
  )
}

export function markdown(result, verdict) {
  const { options, faults, closedMs, unexpected } = result
  const total = totalsOf(result)
  const rows = verdict.series.map(
    ({ name, unit, first, last, grew }) =>
      `| ${name} | ${show(first)} | ${show(last)} | ${unit} | ${grew ? '**grew**' : 'flat'} |`,
  )
  const pairs = result.samples.flatMap(({ services }) => services.flatMap((one) => one.pairs))
  const pings = result.samples.flatMap(({ services }) => services.flatMap((one) => one.pings))
  return `${[
    '```sh',
    `npm run soak -- --minutes ${options.minutes} --seed ${options.seed}`,
    '```',
    '',
    `The run took ${total.hours.toFixed(2)} hours: ${total.operations.toLocaleString('en')} operations of ${options.workers} services, ` +
      `and ${total.faults.toLocaleString('en')} faults. During faults ${total.failed.toLocaleString('en')} operations failed, each with a ` +
      `[documented error](../reference/errors.md). ${unexpected.length === 0 ? 'Nothing unexpected happened.' : `**${unexpected.length} things were unexpected.**`} ` +
      `At the end, \`close()\` of each service took ${closedMs.map((ms) => `${Math.round(ms)} ms`).join(' and ')}.`,
    '',
    '| measure | first quarter | last quarter | unit | verdict |',
    '|---|---:|---:|---|---|',
    ...rows,
    '',
    `A lock and its release took ${quantile(pairs, 0.5).toFixed(2)} ms in the median, and at most ${quantile(pairs, 0.99).toFixed(2)} ms in 99 of 100 cases. ` +
      `A bare round trip took ${median(pings).toFixed(2)} ms in the median, and at most ${quantile(pings, 0.99).toFixed(2)} ms in 99 of 100 cases.`,
    '',
    '| fault | times |',
    '|---|---:|',
    ...countsOf(faults).map(([what, count]) => `| ${what} | ${count} |`),
    '',
    '| operation | times |',
    '|---|---:|',
    ...Object.entries(total.byJob).map(
      ([job, count]) => `| ${job} | ${count.toLocaleString('en')} |`,
    ),
  ].join('\n')}\n`
}

function totalsOf({ samples, faults }) {
  const last = samples.at(-1)
  const sum = (key) => last.services.reduce((all, one) => all + one[key], 0)
  const byJob = {}
  for (const one of last.services) {
    for (const [job, count] of Object.entries(one.byJob)) byJob[job] = (byJob[job] ?? 0) + count
  }
  const hours = last.at / 3_600
  return {
    hours,
    operations: sum('operations'),
    failed: sum('failed'),
    faults: faults.length,
    byJob,
  }
}

function countsOf(faults) {
  const counts = new Map()
  for (const { what } of faults) counts.set(what, (counts.get(what) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a)
}

const show = (value) => (Number.isInteger(value) ? `${value}` : value.toFixed(2))
