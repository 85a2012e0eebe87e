// Runs services with faults for hours: memory, handles, keys and latency must not grow.
// `npm run build`, then `node programs/soak/run.mjs [--minutes 240] [--seed n] [--workers 2] [--callers 6]
// [--pause 120] [--every 10] [--samples soak.jsonl] [--plot soak.svg] [--report soak.md]`.
// The exit code is 1 if something grows, or if a call fails in a way that the faults do not explain.
// `--leak` shows that the run finds a leak. `--from soak.jsonl` judges and draws the samples of an earlier run.
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { judge } from './judge.mjs'
import { plot } from './plot.mjs'
import { markdown, print } from './report.mjs'
import { Soak } from './soak.mjs'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '240' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    workers: { type: 'string', default: '2' },
    callers: { type: 'string', default: '6' },
    pause: { type: 'string', default: '120' },
    every: { type: 'string', default: '10' },
    leak: { type: 'boolean', default: false },
    samples: { type: 'string' },
    from: { type: 'string' },
    plot: { type: 'string' },
    report: { type: 'string' },
  },
})
const options = { ...values }
for (const name of ['minutes', 'seed', 'workers', 'callers', 'pause', 'every']) {
  options[name] = Number(values[name])
}

process.on('SIGINT', () => process.exit(130))
process.on('SIGTERM', () => process.exit(143))

process.exitCode = (await run()) ? 0 : 1

async function run() {
  const result = values.from === undefined ? await new Soak(options).run() : readResult(values.from)
  const verdict = judge(result)
  print(result, verdict)
  if (values.plot) writeFileSync(values.plot, `${plot(result, verdict)}\n`)
  if (values.report) writeFileSync(values.report, markdown(result, verdict))
  return verdict.isGood
}

function readResult(file) {
  const [options, ...lines] = readFileSync(file, 'utf8').trim().split('\n').map(JSON.parse)
  const of = (kind) => lines.filter((line) => line.kind === kind)
  return {
    options,
    samples: of('sample'),
    faults: of('fault'),
    unexpected: of('unexpected').map(({ what }) => what),
    closedMs: of('closed').map(({ ms }) => ms),
  }
}
