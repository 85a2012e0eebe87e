// Compares rate limiters: Holdfast, rate-limiter-flexible, and RRateLimiter of Redisson. Measures how many calls per
// second a process makes, and the most permits that are granted in any interval. With `--java`, the program needs a JDK
// and Maven.
// Run `npm run build`, then `node bench/probes/rate/compare.mjs [rounds] [--java]`.
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { Holdfast } from '../../../dist/esm/src/index.js'
import { ensurePeers, load } from '../../compare/libraries/peer.mjs'
import { startJava } from '../../support/java.mjs'
import { aboutTheMachine, now, quantile, startServer, table } from '../../support/support.mjs'

const rounds = Number(process.argv.slice(2).find((arg) => /^\d+$/.test(arg)) ?? 5)
const missing = ensurePeers()
if (missing) throw new Error(missing)
const { RateLimiterRedis } = await load('rate-limiter-flexible')
const server = await startServer()
const java = process.argv.includes('--java') ? await startJava() : undefined
if (java) for (const client of ['a', 'b']) await java.ask('open', { client, port: server.port })

/** A limit that no call reaches, and a limit that the calls reach. */
const WIDE = { permits: 100_000, perMs: 3_600_000 }
const TIGHT = { permits: 50, perMs: 1_000 }
const SPEED_MS = 500
const TRIES = 5

const clients = [0, 1].map(() => new Holdfast({ redis: server.url }))
const connections = [0, 1].map(() => new Redis(server.url))

/** Each library makes a function that tries to get one permit, for the client with this number. */
const ofNode = {
  Holdfast: (name, limit) => (n) => {
    const limiter = clients[n].getRateLimiter(name, limit)
    return async () => (await limiter.tryAcquire()).granted
  },
  'rate-limiter-flexible':
    (name, { permits, perMs }) =>
    (n) => {
      const options = { storeClient: connections[n], keyPrefix: name, points: permits }
      const limiter = new RateLimiterRedis({ ...options, duration: perMs / 1_000 })
      return () =>
        limiter.consume('key').then(
          () => true,
          (refused) => {
            if (refused instanceof Error) throw refused
            return false
          },
        )
    },
}

/** Makes calls with this many tasks. Returns the number of calls and the times of the grants, in ms. */
async function callsOfNode(open, tasks, forMs, pauseMs) {
  let calls = 0
  const granted = []
  const until = now() + forMs
  const task = async (_, n) => {
    const tryIt = open(n % 2)
    while (now() < until) {
      calls += 1
      if (await tryIt()) granted.push(now())
      if (pauseMs > 0) await pause(pauseMs)
    }
  }
  await Promise.all(Array.from({ length: tasks }, task))
  return { calls, granted }
}

async function callsOfJava(name, limit, workers, forMs, pauseMs) {
  const run = (client, threads) =>
    java.ask('limit', { client, names: [name], ...limit, workers: threads, forMs, pauseMs })
  const parts = await Promise.all(
    workers === 1 ? [run('a', 1)] : [run('a', workers / 2), run('b', workers / 2)],
  )
  return {
    calls: parts.reduce((sum, { value }) => sum + value.calls, 0),
    granted: parts.flatMap(({ value }) => value.granted.map((ns) => ns / 1e6)),
  }
}

const libraries = Object.entries(ofNode).map(([label, make]) => [
  label,
  (name, limit, tasks, forMs, pauseMs) => callsOfNode(make(name, limit), tasks, forMs, pauseMs),
])
if (java) libraries.push(['RRateLimiter (Java)', callsOfJava])

/** The most grants in an interval. The times are those of the answers, so the interval is 5 % shorter. */
function mostIn(granted, perMs) {
  const times = [...granted].sort((a, b) => a - b)
  let [first, most] = [0, 0]
  for (const [last, time] of times.entries()) {
    while (times[first] <= time - perMs * 0.95) first += 1
    most = Math.max(most, last - first + 1)
  }
  return most
}

const TASKS = [1, 64]
const speeds = new Map(libraries.map(([label]) => [label, TASKS.map(() => [])]))
for (let round = 0; round <= rounds; round += 1) {
  for (const [label, run] of libraries) {
    for (const [i, tasks] of TASKS.entries()) {
      const { calls } = await run(`wide:${label}:${round}:${tasks}`, WIDE, tasks, SPEED_MS, 0)
      // The first round warms up.
      if (round > 0) speeds.get(label)[i].push(calls / (SPEED_MS / 1_000))
      await server.admin.flushdb()
    }
  }
}
console.log(aboutTheMachine())
const rows = []
for (const [label, run] of libraries) {
  let most = 0
  for (let n = 0; n < TRIES; n += 1) {
    // The first calls begin an interval. Most calls come shortly before and after the end of this interval.
    const name = `tight:${label}:${n}`
    const { granted } = await run(name, TIGHT, 1, 1, 0)
    await pause(TIGHT.perMs * 0.9)
    const more = await run(name, TIGHT, 16, TIGHT.perMs * 0.5, 1)
    most = Math.max(most, mostIn([...granted, ...more.granted], TIGHT.perMs))
  }
  const [alone, many] = speeds.get(label).map((all) => quantile(all, 0.5).toFixed(0))
  rows.push([label, alone, many, String(most)])
}
console.log(
  `${rounds} rounds; the limit of the last column is ${TIGHT.permits} in ${TIGHT.perMs} ms`,
)
table(['limiter', 'calls/s, 1 at a time', `${TASKS[1]} at a time`, 'most in an interval'], rows)
for (const client of clients) await client.close()
for (const connection of connections) connection.disconnect()
java?.stop()
await server.stop()
