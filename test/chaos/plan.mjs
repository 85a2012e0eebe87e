// Several worlds one after another: few minutes before each merge, most of an hour now and then.
import { writeFileSync } from 'node:fs'
import { runControls } from './controls/run.mjs'
import { now } from './random.mjs'
import { countOf, isClean, markdown, print, tableOf, totalsOf } from './report.mjs'
import { runStage } from './stage.mjs'

/** By turns with and without force, and servers that keep or lose what they have. */
const SLICE = [
  { world: 'single', force: true },
  { world: 'quorum3' },
  { world: 'quorum5', force: true },
  { world: 'sentinel' },
  { world: 'cluster' },
  { world: 'replicas' },
]
const LONG = [
  { world: 'single' },
  { world: 'single', force: true, forget: true },
  { world: 'quorum3', force: true },
  { world: 'quorum5' },
  { world: 'sentinel' },
  { world: 'cluster' },
  { world: 'replicas' },
]
const SLICE_SECONDS = 20
/** Callers of each client that lose no time. */
const FAST = { slice: 5, long: 8 }
/** What fits into eight minutes beside the controls on a machine that is busy with other things. */
const SLICE_LIMIT_MS = 330_000
const LONG_SECONDS = 150
const ENOUGH = { acquisitions: 1_000_000, faults: 2_000 }

export async function runSlice(options) {
  const start = now()
  const results = []
  for (const [i, run] of SLICE.entries()) {
    if (now() - start > SLICE_LIMIT_MS) {
      console.log(`The machine is too slow: ${SLICE.length - i} worlds are left out`)
      break
    }
    const pace = { fast: FAST.slice, seconds: SLICE_SECONDS }
    results.push(await one({ ...options, ...run, ...pace, seed: options.seed + i }))
  }
  console.log(tableOf(results))
  const areConvicted = await runControls({ seed: options.seed })
  return areConvicted && results.every(isClean)
}

/** Round after round, until there is enough of both. */
export async function runLong(options) {
  const results = []
  for (let i = 0; !isEnough(results); i++) {
    const run = LONG[i % LONG.length]
    const pace = { fast: FAST.long, seconds: LONG_SECONDS }
    results.push(await one({ ...options, ...run, ...pace, seed: options.seed + i }))
    if (options.report !== undefined) writeFileSync(options.report, markdown(results, options.seed))
  }
  console.log(tableOf(results))
  return results.every(isClean)
}

async function one(options) {
  const result = await runStage(options)
  print(result)
  return result
}

function isEnough(results) {
  if (results.length < LONG.length) return false
  const { acquisitions, faults } = totalsOf(results)
  return acquisitions >= ENOUGH.acquisitions && countOf(faults) >= ENOUGH.faults
}
