// Chaos: client processes use locks in every way on real servers, while networks, processes and
// servers fail in every way; a process apart from all that writes down who was inside when.
// `npm run build`, then `node programs/chaos/run.mjs [--world single|clock|quorum3|quorum5|clocks3|sentinel|cluster|replicas]
// [--seconds 60] [--seed n] [--kinds lock,read-write,permits,semaphore,latch,barrier,election] [--clients 3] [--callers 6] [--fast 3] [--gaps 1] [--forget] [--force] [--history file] [--plot file.svg] [--monitor]`. It ends with 1
// where it finds what must not be, with the seed, the faults and the histories that show it.
// `--slice` is what is run before each merge; `--long [--report file] [--minutes 45]` all worlds, again and again;
// `--controls` shows that locks that are none are found out, ours with something left out
// (`--break exclusion|validity|writers|permits|latch|barrier`) and those of others (`--control <name>`).
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
// Node.js 20 can hang where it ends by itself after connections were reset.
setTimeout(() => process.exit(), 100)

async function run() {
  if (options.controls) return runControls({ seed: options.seed })
  if (options.slice) return runSlice(options)
  if (options.long) return runLong(options)
  const result = await runStage(options)
  print(result)
  return isClean(result)
}
