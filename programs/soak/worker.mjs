// A service that runs for hours: one client, callers that use every kind of lock, a candidate, a history and metrics.
// The client is never replaced, so every leak adds up. run.mjs starts this process, and passes the settings in
// `process.argv[2]`.
import { readdirSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Redis } from 'ioredis'
import { Registry } from 'prom-client'
import { Holdfast, HoldfastError } from '../../dist/esm/src/index.js'
import { collectMetrics } from '../../dist/esm/src/observe/metrics/metrics.js'
import { recordHistory } from '../../dist/esm/tools/history/history.js'
import { now, pick, randomFrom } from '../chaos/random.mjs'
import { jobsOf } from './jobs.mjs'

const { label, seed, port, directPort, callers, pauseMs, leak } = JSON.parse(process.argv[2])
const random = randomFrom(seed)
setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc')
const redis = `redis://127.0.0.1:${port}`

/** The codes of errors that faults may cause. */
const EXPECTED = new Set([
  'HOLDFAST_UNAVAILABLE',
  'HOLDFAST_REFUSED',
  'HOLDFAST_LEASE_LOST',
  'HOLDFAST_NOT_RELEASED',
  'HOLDFAST_NOT_HELD',
  'HOLDFAST_WAIT_TIMEOUT',
  'HOLDFAST_NO_PERMITS',
  'HOLDFAST_RESIGNED',
])

const client = new Holdfast({
  ...{ redis, label, leaseMs: 5_000, outageMs: 3_000, counterTtlMs: 60_000 },
})
client.on('error', () => {})
const history = recordHistory({ redis, maxEvents: 1_000, onError: () => {} })
const register = new Registry()
const metrics = collectMetrics({ register, nameOf: (name) => name.split(':')[0] })
// The probes do not use the proxy with the faults, so they measure only the library and the server.
const direct = new Holdfast({ redis: `redis://127.0.0.1:${directPort}`, counterTtlMs: 60_000 })
direct.on('error', () => {})
const bare = new Redis(directPort, '127.0.0.1', { retryStrategy: () => 100 })
bare.on('error', () => {})

/** True for errors that faults or `close()` may cause. */
const isExpected = (error) =>
  error instanceof HoldfastError &&
  (EXPECTED.has(error.code) || (isOver && error.code === 'HOLDFAST_CLOSED'))

const total = { operations: 0, failed: 0, byJob: {} }
let window = { pairs: [], pings: [] }
let isOver = false
const leaked = []

process.on('unhandledRejection', (error) => unexpected('unhandled', error))
process.on('uncaughtException', (error) => unexpected('uncaught', error))

function unexpected(where, error) {
  process.send({ unexpected: `${label}, ${where}: ${error?.stack ?? error}` })
}

async function call(jobs) {
  const names = Object.keys(jobs)
  while (!isOver) {
    const name = pick(random, names)
    try {
      await jobs[name]()
      total.operations += 1
      total.byJob[name] = (total.byJob[name] ?? 0) + 1
    } catch (error) {
      total.failed += 1
      if (!isExpected(error)) unexpected(name, error)
    }
    if (leak) leaked.push(Array.from({ length: 2_000 }, () => ({ name })))
    await pause(random() * 2 * pauseMs)
  }
}

/** Leads for some seconds, again and again. */
async function stand() {
  const election = client.getLeaderElection('soak:leader')
  election.on('changed', () => {})
  while (!isOver) {
    await election
      .lead(async ({ signal }) => {
        await pause(5_000 + random() * 5_000, undefined, { signal }).catch(() => {})
      })
      .catch((error) => {
        if (!isExpected(error)) unexpected('lead', error)
      })
    await pause(500)
  }
}

/** Measures by turns a lock without contention, and a round trip for comparison. */
async function probe() {
  for (let i = 0; !isOver; i++) {
    await pause(200)
    try {
      const start = now()
      await bare.ping()
      const between = now()
      const lease = await direct.getLock(`probe:${label}:${i}`).lock()
      await lease.release()
      window.pings.push(between - start)
      window.pairs.push(now() - between)
    } catch (error) {
      const isOfRedis = error?.name === 'MaxRetriesPerRequestError' || error?.name === 'ReplyError'
      if (!(error instanceof HoldfastError) && !isOfRedis) unexpected('probe', error)
    }
  }
}

function sample() {
  // Runs twice, because only the second collection frees objects with a finalizer.
  collectGarbage()
  collectGarbage()
  const { heapUsed, rss, external } = process.memoryUsage()
  const resources = process.getActiveResourcesInfo()
  const { pairs, pings } = window
  window = { pairs: [], pings: [] }
  return {
    ...{ heapUsed, rss, external, pairs, pings },
    timers: resources.filter((one) => one === 'Timeout').length,
    handles: resources.filter((one) => one !== 'Timeout').length,
    descriptors: process.platform === 'linux' ? readdirSync('/proc/self/fd').length : undefined,
    ...structuredClone(total),
  }
}

process.on('message', async ({ kind, ms }) => {
  if (kind === 'sample') process.send({ sample: sample() })
  if (kind === 'stall') for (const end = now() + ms; now() < end; );
  if (kind !== 'stop') return
  isOver = true
  const start = now()
  await client.close({ drainMs: 5_000 }).catch((error) => unexpected('close', error))
  await direct.close().catch((error) => unexpected('close', error))
  await history.stop()
  metrics.stop()
  bare.disconnect()
  process.send({ closedMs: now() - start }, () => process.disconnect())
})

const jobs = jobsOf(client, { random, label })
for (let i = 0; i < callers; i++) void call(jobs)
void stand()
void probe()
