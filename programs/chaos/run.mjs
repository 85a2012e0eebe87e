// Chaos: client processes use locks in every way on real servers, while networks, processes and servers fail. A
// separate process, the witness, records each holder with its times.
// The exit code is 1 if the judges find a violation. The run then prints the seed, the faults and the histories of
// the violation.
//
// `npm run build`, then `node programs/chaos/run.mjs` with these options:
// `--world single|clock|quorum3|quorum5|redlock3|spread3|clocks3|sentinel|cluster|replicas`
// `--kinds lock,read-write,permits,semaphore,latch,barrier,election`
// `--seconds 60`, `--seed n`, `--clients 3`, `--callers 6`, `--fast 3`, `--gaps 1`, `--forget`, `--force`
// `--history file`, `--plot file.svg`, `--monitor`
// `--slice` is the run for each change. `--long [--report file] [--minutes 45]` runs all worlds again and again.
// `--controls` shows that the judges find wrong locks: other libraries (`--control <name>`), and Holdfast without a part:
// `--break exclusion|validity|writers|permits|latch|barrier`
import { readArguments } from './arguments.mjs'
import { runControls } from './controls/run.mjs'
import { runLong, runSlice } from './plan.mjs'
import { isClean, print } from './report.mjs'
import { runStage } from './stage.mjs'

process.on('SIGINT', () => process.exit(130))
process.on('SIGTERM', () => process.exit(143))

const options = readArguments()
const isGood = await run().catch((error) => {
  console.error('The chaos itself failed:', error)
  return false
})
process.exitCode = isGood ? 0 : 1
// Node.js 20 may hang at its end after connections were reset.
setTimeout(() => process.exit(), 100)

async function run() {
  if (options.controls) return runControls({ seed: options.seed })
  if (options.slice) return runSlice(options)
  if (options.long) return runLong(options)
  const result = await runStage(options)
  print(result)
  return isClean(result)
}
