// Several worlds one after another: few minutes before each merge, most of an hour now and then.
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

/** Where the histories of convicted long runs stay. */
const HISTORIES = fileURLToPath(new URL('../../.cache/chaos/', import.meta.url))

/** By turns with and without force, and servers that keep or lose what they have. The last is the fastest. */
const SLICE = [
  { world: 'quorum3' },
  { world: 'quorum5', force: true },
  { world: 'clocks3' },
  { world: 'sentinel' },
  { world: 'cluster' },
  { world: 'replicas' },
  { world: 'clock' },
  { world: 'single', force: true },
]
/** Where most is acquired: more callers, and a little more time between faults. */
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
  { world: 'clock' },
]
/** After one round, those that are fast, until there is enough. */
const REST = LONG.filter(({ world }) => world === 'single' || world === 'replicas')
/** Callers of each client that lose no time: what many ask for goes together, which costs less. */
const FAST = { slice: 24, long: 40 }
/** Of faults, in each world at least. */
const SECONDS = { slice: 12, long: 65 }
const ENOUGH = {
  slice: { operations: 20_000, ofEach: 300, faults: 100 },
  long: { operations: 1_000_000, ofEach: 10_000, faults: 2_000 },
}
/** After so long no other world is begun, and the last is given no more time: eight minutes with the controls. */
const SLICE_LIMIT_MS = 300_000
/** Of the last world after its last fault, and of one that begins. */
const [END_MS, WHOLE_MS] = [25_000, 40_000]

export async function runSlice(options) {
  const start = now()
  const leftMs = () => SLICE_LIMIT_MS - (now() - start)
  const results = []
  const leftOut = []
  for (const [i, run] of SLICE.entries()) {
    if (leftMs() < WHOLE_MS) {
      leftOut.push(run.world)
      continue
    }
    const isLast = i === SLICE.length - 1
    const extra = isLast ? { mostSeconds: (leftMs() - END_MS) / 1_000 } : {}
    // The last one goes on until all of them have enough.
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
      results.push(await runWorld(options.seed + SLICE.length + i))
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

/** Until there is enough of all or the time is up. */
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

/** @returns whether there was enough; reports what is missing */
function tellEnough(results, enough, options) {
  const lacking = missing(totalsOf(results), enough, options)
  if (lacking.length > 0) console.log(`NOT ENOUGH: ${lacking.join(', ')}`)
  return lacking.length === 0
}

/** @returns what there is too little of, in words */
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
