// Plans runs in several worlds, one after another: a slice of some minutes for each change, and a long run of 45
// minutes.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runControls } from './controls/run.mjs'
import { now } from './random.mjs'
import {
  countOf,
  isClean,
  isOnlyUndecided,
  markdown,
  print,
  tableOf,
  tableOfKinds,
  totalsOf,
} from './report.mjs'
import { runStage } from './stage.mjs'

/** The folder for the histories of long runs with violations. */
const HISTORIES = fileURLToPath(new URL('../../.cache/chaos/', import.meta.url))

/** A slice has some of these worlds, which its seed chooses. Some runs release locks by force. */
const CHOICE = [
  { world: 'quorum5', force: true },
  { world: 'redlock3' },
  { world: 'spread3', force: true },
  { world: 'clocks3' },
  { world: 'sentinel' },
  { world: 'replicas' },
  { world: 'clock' },
]
const CHOSEN = 4
/** The worlds of one slice. The fastest world is last. */
const sliceOf = (seed) => [
  { world: 'quorum3' },
  ...Array.from({ length: CHOSEN }, (_, i) => CHOICE[(seed + i) % CHOICE.length]),
  { world: 'cluster' },
  { world: 'single', force: true },
]
/** The worlds with the most acquisitions. They have more callers, and a little more time between faults. */
const MOST = { fast: 100, seconds: 160, gaps: 2 }
const LONG = [
  { world: 'single', ...MOST },
  { world: 'quorum3', force: true },
  { world: 'replicas' },
  { world: 'single', force: true, forget: true, ...MOST },
  { world: 'cluster' },
  { world: 'clocks3' },
  { world: 'sentinel' },
  { world: 'single', force: true, ...MOST },
  { world: 'quorum5' },
  { world: 'redlock3', force: true },
  { world: 'spread3', force: true },
  { world: 'clock' },
]
/** The fast worlds. After the first round, they run again until the numbers are reached. */
const REST = LONG.filter(({ world }) => world === 'single' || world === 'replicas')
/** The number of fast callers for each client. Many calls at once share requests, so they cost less. */
const FAST = { slice: 24, long: 40 }
/** The shortest time with faults in each world, in seconds. */
const SECONDS = { slice: 12, long: 65 }
const ENOUGH = {
  slice: { operations: 20_000, ofEach: 300, faults: 100 },
  long: { operations: 1_000_000, ofEach: 10_000, faults: 2_000 },
}
/** No world starts after this time, and the last world then ends soon. A slice with controls takes 6 minutes. */
const SLICE_LIMIT_MS = 260_000
/** The time that the last world needs after its last fault, and the time that a whole world needs. */
const [END_MS, WHOLE_MS] = [25_000, 40_000]

export async function runSlice(options) {
  const start = now()
  const leftMs = () => SLICE_LIMIT_MS - (now() - start)
  const results = []
  const leftOut = []
  const slice = sliceOf(options.seed)
  for (const [i, run] of slice.entries()) {
    if (leftMs() < WHOLE_MS) {
      leftOut.push(run.world)
      continue
    }
    const isLast = i === slice.length - 1
    const extra = isLast ? { mostSeconds: (leftMs() - END_MS) / 1_000 } : {}
    // The last world runs until the numbers of all worlds together are reached.
    const isEnough = async (stage) => {
      const { ofKind, faults } = totalsOf(results)
      const more = await stage.ask({ kind: 'operations' }, 'operations')
      for (const kind in more) ofKind[kind] += more[kind]
      return missing({ ofKind, faults }, ENOUGH.slice, options).length === 0
    }
    const pace = { fast: FAST.slice, seconds: SECONDS.slice, ...extra, isEnough }
    const runWorld = (seed) => one({ ...options, ...run, ...pace, seed })
    const result = await runWorld(options.seed + i)
    if (isOnlyUndecided(result) && leftMs() > WHOLE_MS) {
      console.log('A history was undecided. This world runs once more, with another seed.')
      results.push(await runWorld(options.seed + slice.length + i))
    } else results.push(result)
  }
  console.log(tableOf(results))
  console.log(tableOfKinds(results))
  const areConvicted = await runControls({ seed: options.seed })
  if (leftOut.length > 0)
    console.log(`LEFT OUT, for the machine is too slow: ${leftOut.join(', ')}`)
  const isGood = [tellEnough(results, ENOUGH.slice, options), areConvicted, results.every(isClean)]
  console.log(
    `slice, seed ${options.seed}: ${isGood.every(Boolean) ? 'good' : 'NOT GOOD'}, ${((now() - start) / 1_000).toFixed(0)} s`,
  )
  return isGood.every(Boolean)
}

/** Runs until all numbers are reached or the time is up. */
export async function runLong(options) {
  const start = now()
  const leftSeconds = () => options.minutes * 60 - (now() - start) / 1_000
  const results = []
  mkdirSync(HISTORIES, { recursive: true })
  for (let i = 0; !isEnough(results, options) && leftSeconds() > WHOLE_MS / 1_000; i++) {
    const among = i < LONG.length ? LONG : REST
    const run = { seconds: SECONDS.long, fast: FAST.long, ...among[i % among.length] }
    run.seconds = Math.round(Math.min(run.seconds, leftSeconds() - END_MS / 1_000))
    const seed = options.seed + i
    const history = join(HISTORIES, `${run.world}-${seed}.jsonl`)
    const result = await one({ ...options, ...run, seed, history })
    if (isClean(result)) rmSync(history)
    else console.log(`Its history: ${history}`)
    results.push(result)
    if (options.report !== undefined) {
      writeFileSync(options.report, markdown(results, options, ENOUGH.long))
    }
  }
  console.log(tableOf(results))
  console.log(tableOfKinds(results))
  return [tellEnough(results, ENOUGH.long, options), results.every(isClean)].every(Boolean)
}

async function one(options) {
  const result = await runStage(options)
  print(result)
  return result
}

/**
 * Reports missing numbers.
 *
 * @returns true if all numbers are reached
 */
function tellEnough(results, enough, options) {
  const lacking = missing(totalsOf(results), enough, options)
  if (lacking.length > 0) console.log(`NOT ENOUGH: ${lacking.join(', ')}`)
  return lacking.length === 0
}

/** @returns the numbers that are not reached, in words */
function missing({ ofKind, faults }, enough, { kinds }) {
  const operations = Object.values(ofKind).reduce((total, count) => total + count, 0)
  const figures = [
    ['operations', operations, enough.operations],
    ...kinds.map((kind) => [`operations of ${kind}`, ofKind[kind], enough.ofEach]),
    ['faults', countOf(faults), enough.faults],
  ]
  return figures
    .filter(([, count, wanted]) => count < wanted)
    .map(([what, count, wanted]) => `${count} ${what} of ${wanted}`)
}

const isEnough = (results, options) =>
  results.length >= LONG.length && missing(totalsOf(results), ENOUGH.long, options).length === 0
