#!/usr/bin/env node
/**
 * Checks the models of `spec/` with Spin. Each model must pass in all of its states. A variant is a model without one
 * guard, and Spin must find an error in each variant.
 *
 *   npm run model                      everything
 *   npm run model -- plain fair        only these models
 *   npm run model -- --quick           a part of the checks, in about a minute
 *   npm run model -- --explain NO_REST the shortest run that goes wrong without this guard
 *
 * It needs a C compiler. It uses Spin from PATH, or unpacks Spin into `.cache/spin` without an installation.
 */
import { execFileSync, spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { barrierModel } from '../spec/barrier.checks.mjs'
import { electionModel } from '../spec/election.checks.mjs'
import { fairRunsModel } from '../spec/fair-runs.checks.mjs'
import { jobModel } from '../spec/job.checks.mjs'
import { keptModel } from '../spec/kept.checks.mjs'
import { latchModel } from '../spec/latch.checks.mjs'
import { permitsModel } from '../spec/permits.checks.mjs'
import { readWriteModels } from '../spec/read-write.checks.mjs'
import { semaphoreModel } from '../spec/semaphore.checks.mjs'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const SPEC = join(ROOT, 'spec')
const FETCHED = join(ROOT, '.cache', 'spin')
const LONGEST_MS = 300_000

/**
 * `checks`: the flags of each run that must pass. `quick`: the indexes of the runs that `--quick` does.
 * `reach`: flags, and the numbers of the places in the model that a run with these flags must reach.
 * `variants`: for each guard, the flags with which Spin must find an error if this guard is left out.
 * @typedef {{ checks: string[][], quick: number[], reach: string[][], variants: Record<string, string[]>, options?: string[] }} ModelChecks
 * @type {Record<string, ModelChecks>}
 */
const MODELS = {
  plain: {
    checks: [['-DPART=1'], ['-DPART=2'], ['-DPART=3']],
    quick: [2],
    reach: [
      ['-DPART=1', '1 2 3 5 6 7 11 12 14'],
      ['-DPART=2', '8 9 10 13'],
      ['-DPART=3', '4'],
    ],
    variants: {
      NO_MARGIN: ['-DPART=1'],
      FROM_REPLY: ['-DPART=1'],
      NO_NOT_AFTER: ['-DPART=1'],
      UNKNOWN_IS_NO: ['-DPART=1'],
      SETTLE_EARLY: ['-DPART=1'],
      SURE_AT_REPLY: ['-DPART=1'],
      REUSE_NAMES: ['-DPART=1'],
      BLIND_COUNTS: ['-DPART=3'],
      NO_TOKEN_CHECK: ['-DPART=1'],
      NO_CLOCK_FLOOR: ['-DPART=1'],
      RENEW_REVIVES: ['-DPART=1'],
      PASS_AS_NEW: ['-DPART=2'],
      PASS_TO_ANY: ['-DPART=2'],
      NO_REENTRY_MARK: ['-DPART=3'],
    },
  },
  'wake-up': {
    checks: [[], ['-DCRASH=1']],
    quick: [0, 1],
    reach: [['-DCRASH=1', '1 2 3 4 5 6 7 8 9']],
    variants: {
      NO_SECOND_TRY: [],
      NO_WAKE_ON_UP: [],
      ALL_LEAVE: [],
      RING_NOT_KEPT: [],
      NO_TTL: ['-DCRASH=1'],
    },
  },
  fair: {
    checks: [['-DPART=1'], ['-DPART=2']],
    quick: [],
    reach: [['-DPART=1', '1 2 3 4 5 6 7 8 9 10 11 12 13']],
    variants: {
      NO_PROOF: ['-DPART=1'],
      PROOF_BY_ARRIVAL: ['-DPART=1'],
      NO_TOKEN_TEST: ['-DPART=1'],
      NO_UNKNOWN_TEST: ['-DPART=1'],
      NO_CLAIM_WINDOW: ['-DPART=1'],
      NO_PUT_BACK: ['-DPART=1'],
      NO_REFUSE: ['-DPART=1'],
      NO_NOT_AFTER: ['-DPART=1'],
      NEW_TICKET: ['-DPART=2'],
      FREE_FIRST: ['-DPART=2'],
    },
  },
  quorum: {
    checks: [['-DPART=1'], ['-DPART=2'], ['-DPART=3']],
    quick: [],
    reach: [
      ['-DPART=1', '1 2 3 4 5 6 7'],
      ['-DPART=3', '8'],
    ],
    variants: {
      NO_REST: ['-DPART=3'],
      NO_MAJORITY: ['-DPART=1'],
      NO_AGREE: ['-DPART=1'],
      NO_GIVE_BACK: ['-DPART=1'],
      RELEASE_ONCE: ['-DPART=1'],
      NO_CLOCK_FLOOR: ['-DPART=3'],
      FROM_REPLY: ['-DPART=1'],
      RENEW_BY_ONE: ['-DPART=1'],
      LATE_RESTORE: ['-DPART=1'],
      DELETED_KEY: ['-DPART=1'],
    },
  },
  founding: {
    checks: [[]],
    quick: [],
    reach: [['', '1 2 3 4 5']],
    variants: { NO_CLAIM: [], NO_FOUNDER: [], ANY_CLAIM: [], ANY_DEPLOYMENT: [], NO_REST: [] },
  },
  ...keptModel,
  ...fairRunsModel,
  ...readWriteModels,
  ...semaphoreModel,
  ...permitsModel,
  ...latchModel,
  ...barrierModel,
  ...electionModel,
  ...jobModel,
}

const args = process.argv.slice(2)
const quick = args.includes('--quick')
const explainAt = args.indexOf('--explain')
const explained = explainAt >= 0 ? args[explainAt + 1] : undefined
const names = args.filter(
  (arg, i) => !arg.startsWith('--') && (explainAt < 0 || i !== explainAt + 1),
)
for (const name of names)
  if (!(name in MODELS)) fail(`There is no model ${name}: ${Object.keys(MODELS).join(', ')}`)

const cc = ['cc', 'gcc'].find(hasProgram)
if (cc === undefined) fail('A C compiler is needed. Type:  sudo apt-get install gcc libc6-dev')
const spin = findSpin()
const work = mkdtempSync(join(tmpdir(), 'holdfast-model-'))
let failed = false
try {
  if (explained !== undefined) await explain(explained)
  else await checkAll()
} finally {
  rmSync(work, { recursive: true, force: true })
}
process.exit(failed ? 1 : 0)

async function checkAll() {
  /** @type {(() => Promise<void>)[]} */
  const jobs = []
  const chosen = Object.entries(MODELS).filter(
    ([name]) => names.length === 0 || names.includes(name),
  )
  console.log(
    'model             flags                                 result        states     depth       s     MB',
  )
  for (const [name, model] of chosen) {
    for (const [i, flags] of model.checks.entries()) {
      if (!quick || model.quick.includes(i)) jobs.push(() => job(name, flags, 'passes'))
    }
    for (const [variant, flags] of Object.entries(model.variants)) {
      if (!quick || Object.keys(model.variants).indexOf(variant) < 3) {
        jobs.push(() => job(name, [...flags, `-D${variant}`], 'convicted'))
      }
    }
    for (const [flags, places] of quick ? [] : model.reach) {
      for (const place of places.split(' ')) {
        jobs.push(() => job(name, [flags, `-DREACH=${place}`].filter(Boolean), 'reached'))
      }
    }
  }
  const next = async () => {
    for (let work = jobs.shift(); work !== undefined; work = jobs.shift()) await work()
  }
  await Promise.all([next(), next()])
  console.log(failed ? '\nNot everything is as it should be.' : '\nEverything is as it should be.')
}

/** @param {'passes' | 'convicted' | 'reached'} wanted */
async function job(name, flags, wanted) {
  const result = await check(name, flags, false)
  const found = result.errors > 0 ? (wanted === 'passes' ? 'VIOLATED' : wanted) : 'passes'
  const isRight = result.complete && found === wanted
  if (!isRight) failed = true
  console.log(
    [
      name.padEnd(17),
      flags.join(' ').padEnd(37),
      (isRight ? found : result.complete ? `${found}!` : 'NO RESULT').padEnd(10),
      String(result.states).padStart(9),
      String(result.depth).padStart(9),
      result.seconds.toFixed(1).padStart(7),
      String(result.memory).padStart(6),
    ].join(' '),
  )
}

/** @param {boolean} shortest true to search for the shortest run to a violation */
async function check(name, flags, shortest, keep = false, options = [], longestMs = LONGEST_MS) {
  const folder = mkdtempSync(join(work, `${name}-`))
  for (const file of readdirSync(SPEC)) copyFileSync(join(SPEC, file), join(folder, file))
  await run(spin, ['-a', ...flags, `${name}.pml`], folder)
  const cFlags = [
    flags.length > 1 || shortest ? '-O0' : '-O1',
    '-w',
    '-DSAFETY',
    '-DNOFAIR',
    '-DMEMLIM=2900',
  ]
  if (shortest) cFlags.push('-DBFS')
  await run(cc, [...cFlags, '-o', 'pan', 'pan.c'], folder)
  const startedAt = performance.now()
  const text = await run(join(folder, 'pan'), [...options, '-m1000000'], folder, longestMs)
  const number = (pattern) => Number(pattern.exec(text)?.[1] ?? 0)
  const errors = number(/errors: (\d+)/)
  const result = {
    errors,
    states: number(/(\d+) states, stored/),
    depth: number(/depth reached (\d+)/),
    memory: Math.round(number(/([\d.]+)\s+total actual memory/)),
    seconds: (performance.now() - startedAt) / 1_000,
    complete:
      /errors: \d/.test(text) &&
      (errors > 0 || !/Search not completed|out of memory|too small/.test(text)),
    folder,
  }
  if (!keep) rmSync(folder, { recursive: true, force: true })
  return result
}

async function explain(variant) {
  const [name, model] =
    Object.entries(MODELS).find(
      ([name, { variants }]) => variant in variants && (names.length === 0 || names.includes(name)),
    ) ?? fail(`There is no variant ${variant}.`)
  const flags = [...model.variants[variant], `-D${variant}`]
  let found = await check(name, flags, true, true)
  if (found.errors === 0) {
    console.log('The search for the shortest way takes too much: one that is short is looked for.')
    found = await check(name, flags, false, true, ['-i'], 90_000)
  }
  const { errors, folder } = found
  if (errors === 0) fail(`${variant} is not convicted.`)
  const text = await run(spin, ['-t', '-T', '-B', ...flags, `${name}.pml`], folder)
  console.log(`${name} without a guard: ${variant}\n`)
  console.log(
    text
      .split('\n')
      .filter((line) => !/^spin: (warning|trail)/.test(line))
      .join('\n'),
  )
}

/** Ends a program that takes too long. Resolves with the output even if the checker of a model fails. */
function run(program, options, cwd, timeoutMs = 120_000) {
  return new Promise((resolve, reject) => {
    let text = ''
    const child = spawn(program, options, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    const timer = setTimeout(() => child.kill('SIGINT'), timeoutMs)
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (part) => {
        text += part
      })
    child.on('error', reject)
    child.on('close', (code) => {
      clearTimeout(timer)
      if (code !== 0 && /spin|cc$/.test(program))
        reject(new Error(`${program} ${options.join(' ')}\n${text}`))
      else resolve(text)
    })
  })
}

function hasProgram(name) {
  try {
    execFileSync('sh', ['-c', `command -v ${name}`], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function findSpin() {
  if (hasProgram('spin')) return 'spin'
  const fetched = join(FETCHED, 'usr', 'bin', 'spin')
  if (existsSync(fetched)) return fetched
  if (!hasProgram('apt-get') || !hasProgram('dpkg-deb'))
    fail('Spin is needed: https://spinroot.com')
  mkdirSync(FETCHED, { recursive: true })
  console.log('Fetching spin with apt-get into .cache/spin (nothing is installed) …')
  try {
    const root = process.getuid?.() === 0 ? ['-o', 'APT::Sandbox::User=root'] : []
    execFileSync('apt-get', ['-q', ...root, 'download', 'spin'], { cwd: FETCHED, stdio: 'pipe' })
    for (const file of readdirSync(FETCHED).filter((entry) => entry.endsWith('.deb'))) {
      execFileSync('dpkg-deb', ['-x', file, FETCHED], { cwd: FETCHED })
    }
  } catch (error) {
    fail(`Spin could not be fetched (${error.message}). Type:  sudo apt-get install spin`)
  }
  return existsSync(fetched)
    ? fetched
    : fail('Spin could not be fetched. Type:  sudo apt-get install spin')
}

/** @returns {never} */
function fail(text) {
  console.error(text)
  process.exit(1)
}
