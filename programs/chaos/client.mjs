// A process with one client at a time and many callers. The callers use locks in every way, and report to the
// witness. run.mjs starts this process, and passes the settings in `process.argv[2]`.
import { setTimeout as pause } from 'node:timers/promises'
import { Cluster } from 'ioredis'
import { Holdfast, HoldfastError } from '../../dist/esm/src/index.js'
import { BarrierCaller } from './callers/barrier.mjs'
import { ElectionCaller } from './callers/election.mjs'
import { LatchCaller } from './callers/latch.mjs'
import { LockCaller } from './callers/locks.mjs'
import { PermitCaller } from './callers/permits.mjs'
import { ReadWriteCaller } from './callers/read-write.mjs'
import { SemaphoreCaller } from './callers/semaphore.mjs'
import { NAMES } from './kinds.mjs'
import { now, pick, pickWeighted, randomFrom } from './random.mjs'
import { Record } from './record.mjs'
import { openRedLocks } from './red-locks.mjs'
import { openSpread } from './spread.mjs'
import { openStaleContexts } from './stale-contexts.mjs'

const settings = JSON.parse(process.argv[2])
const { label, seed, options, names, kinds, callers, fast, witnessPort, keeps, force } = settings
const random = randomFrom(seed)
const tally = { acquired: 0, refused: 0, aborted: 0, lost: 0, violations: [] }
const failures = new Map()
let running = true
let era = 0
let { generation } = settings
/** How many errors the clients have emitted, by the name of the lock. */
const errors = new Map()
const errorsOf = (name) => errors.get(name) ?? 0

/** The `keepMs` of a client. Half of the clients keep their plain locks between two calls. */
const KEEP_MS = [0, 0, 20, 1_000]

let client = open()

function open() {
  const made = openOn(options)
  made.on('error', ({ lockName }) => errors.set(lockName, errorsOf(lockName) + 1))
  return made
}

function openOn({ cluster, votes, parts, ...others }) {
  if (votes !== undefined) return openRedLocks(votes, others)
  const keepMs = keeps ? pick(random, KEEP_MS) : 0
  if (parts !== undefined) return openSpread(parts, { ...others, keepMs })
  // This instance never connects, because the client duplicates it.
  const place = cluster && {
    redis: new Cluster(cluster.nodes, { natMap: cluster.natMap, lazyConnect: true }),
  }
  return new Holdfast({ ...others, ...place, keepMs })
}

/** Reports each event `changed` of an election to the witness. */
function observe(made, ofEra) {
  if (!kinds.includes('election')) return
  for (const lock of NAMES.election) {
    made.getLeaderElection(lock).on('changed', (leader) => {
      const { token = null, owner = null } = leader ?? {}
      void witness.tell('changed', witness.newId(), { lock, era: ofEra, token, owner })
    })
  }
}

function violation(what) {
  tally.violations.push(what)
  if (tally.violations.length < 20) process.send({ violation: `${label}: ${what}` })
}
process.on('unhandledRejection', (error) =>
  violation(`unhandled ${error?.stack ?? error} ${JSON.stringify({ ...error })}`),
)
process.on('uncaughtException', (error) => violation(`uncaught ${error?.stack ?? error}`))

const BEAT_MS = 50
let lateSum = 0
let lastBeat = now()
const lateNow = () => Math.max(0, now() - lastBeat - BEAT_MS)
setInterval(() => {
  const ms = lateNow()
  if (ms > 200) witness.late(ms)
  lateSum += ms
  lastBeat = now()
}, BEAT_MS).unref()

/** The sum of all delays of the event loop, in milliseconds. The locks do not cause these delays. */
const lateMs = () => lateSum + lateNow()

const witness = new Record(witnessPort, label)
const EXPECTED = new Set([
  'HOLDFAST_UNAVAILABLE',
  'HOLDFAST_REFUSED',
  'HOLDFAST_LEASE_LOST',
  'HOLDFAST_NOT_RELEASED',
  'HOLDFAST_CLOSED',
])

function heard(error, { signal }) {
  if (signal?.aborted && error === signal.reason) {
    tally.aborted += 1
  } else if (error instanceof HoldfastError && EXPECTED.has(error.code)) {
    if (error.code === 'HOLDFAST_LEASE_LOST') tally.lost += 1
    // The code that the server gave for the refusal.
    const [code = ''] = /\b(?:[A-Z]{3,}(?= )|max number of clients)/.exec(error.message) ?? []
    const what = error.code === 'HOLDFAST_REFUSED' ? `${error.code} ${code}` : error.code
    failures.set(what, (failures.get(what) ?? 0) + 1)
  } else violation(`${error?.stack ?? error}`)
}

/** The state that all callers share. */
const own = {
  ...settings,
  witness,
  random,
  tally,
  lateMs,
  heard,
  violation,
  errorsOf,
  get client() {
    return client
  },
  get era() {
    return era
  },
  /**
   * The number in the names of semaphores without leases. It changes after a kill or a loss, because permits are
   * missing then.
   */
  get generation() {
    return generation
  },
  /** By name, the promise that the number of permits of a semaphore without leases is set. */
  permitsSet: new Map(),
}

/** By kind: the class of the callers, the number of callers in each process, and the names of the locks. */
const CALLERS = {
  lock: { Caller: LockCaller, count: callers, names },
  'read-write': { Caller: ReadWriteCaller, count: 5, names: NAMES['read-write'] },
  permits: { Caller: PermitCaller, count: 3, names: NAMES.permits },
  semaphore: { Caller: SemaphoreCaller, count: 2, names: NAMES.semaphore },
  latch: { Caller: LatchCaller, count: 2, names: NAMES.latch },
  barrier: { Caller: BarrierCaller, count: 2, names: NAMES.barrier },
  election: { Caller: ElectionCaller, count: 2, names: NAMES.election },
}
const KINDS_HERE = Object.keys(CALLERS).filter((kind) => kinds.includes(kind))

let callerCount = 0
function newCaller({ Caller }) {
  callerCount += 1
  return new Caller(own, callerCount)
}

/** Runs one caller of the kind, which competes with others for a few names. */
async function call(kind) {
  const caller = newCaller(CALLERS[kind])
  const { names: all } = CALLERS[kind]
  const one = () => [pick(random, all)]
  const oneOrTwo = () => (kind === 'lock' && random() < 0.12 ? [...one(), ...one()] : one())
  while (running) {
    const through = pickWeighted(random, [
      [8, (job) => job()],
      [1, staleContexts.request],
      [1, staleContexts.timer],
    ])
    await through(() => caller.once(oneOrTwo()))
    if (force && random() < 0.002) await takeByForce(kind, pick(random, all))
    if (random() < 0.001) await reopen()
    if (random() < 0.3) await pause(random() * 5)
  }
}

async function takeByForce(kind, name) {
  const lock = FORCED[kind]?.(name)
  if (lock === undefined) return
  const id = witness.newId()
  await witness.tell('forces', id, { lock: name })
  await lock.forceUnlock().catch((error) => heard(error, {}))
  await witness.tell('forced', id)
}

/** The locks that a caller may release by force, by kind. */
const FORCED = {
  lock: (name) => client.getLock(name),
  'read-write': (name) => {
    const lock = client.getReadWriteLock(name)
    return random() < 0.5 ? lock.readLock() : lock.writeLock()
  },
  permits: (name) => ({ forceUnlock: () => releaseSome(client.getPermitExpirableSemaphore(name)) }),
  election: (name) => client.getLock(name),
}

async function releaseSome(semaphore) {
  const { acquired } = await semaphore.inspect()
  if (acquired.length > 0) await semaphore.release(pick(random, acquired).id)
}

/** The kinds of the fast callers. A kind whose operations cost little occurs more often. */
const HURRIED = [
  ...['lock', 'permits', 'read-write', 'lock', 'semaphore', 'lock', 'election', 'permits'],
  ...['lock', 'latch', 'read-write', 'lock', 'barrier'],
].filter((kind) => KINDS_HERE.includes(kind))

/** Runs one fast caller. It has little contention, because few callers share its names. */
async function hurry(_, i) {
  const kind = HURRIED[i % HURRIED.length]
  const caller = newCaller(CALLERS[kind])
  const prefix = kind === 'lock' ? '' : `${kind}-`
  while (running) {
    // Some callers have their own names. The other callers share names, so their client hands the locks over.
    const [whose, count] = i % 4 === 0 ? [i, 3] : ['shared', Math.ceil(fast / 8)]
    const mine = `own-${label.replace(' ', '-')}-${prefix}${whose}-${Math.floor(random() * count)}`
    const name = random() < 0.9 ? mine : `light-${prefix}${Math.floor(random() * 40)}`
    await caller.once([name])
    // Gives the other callers time to run.
    if (random() < 0.02) await pause(1 + random() * 20)
  }
}

let reopening
function reopen() {
  reopening ??= (async () => {
    const old = client
    await witness.closes(era)
    client = open()
    era += 1
    observe(client, era)
    const [startedAt, lateBefore] = [now(), lateMs()]
    await old.close()
    const tookMs = now() - startedAt
    if (tookMs > 2 * options.commandTimeoutMs + 2 * (lateMs() - lateBefore) + 3_000)
      violation(`close() took ${tookMs} ms`)
    reopening = undefined
  })()
  return reopening
}

/** Blocks the event loop, as synchronous code of any program may do. */
function stall(ms) {
  for (const end = now() + ms; now() < end; );
}

process.on('message', async ({ kind, ms, generation: next }) => {
  if (kind === 'generation') generation = next
  if (kind === 'stall') stall(ms)
  if (kind === 'reopen') await reopen()
  if (kind === 'stop') {
    running = false
    await calls
    await reopening
    await witness.closes(era)
    await client.close()
    process.send({ tally, failures: Object.fromEntries(failures) })
  }
})
process.on('disconnect', () => process.exit())
const staleContexts = openStaleContexts(client)
observe(client, era)
const calls = Promise.all([
  ...KINDS_HERE.flatMap((kind) => Array.from({ length: CALLERS[kind].count }, () => call(kind))),
  ...Array.from({ length: fast }, hurry),
])
