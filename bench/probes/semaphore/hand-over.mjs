// Measures the hand-offs per second of some permits, in several clients of one process. The program compares Holdfast
// with a blocking list (BLPOP and LPUSH) and with redis-semaphore. The list has no owners, no protection against
// crashes and no order among clients. All kinds run one after another in each round, so other load of the machine
// affects all of them.
// Run `npm run build`, then
// `node bench/probes/semaphore/hand-over.mjs [rounds] [milliseconds] [clients] [permits] [folder of another build]`.
// The program skips redis-semaphore if bench/peers is not installed.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Holdfast } from '../../../dist/esm/src/index.js'
import { connect } from '../../compare/libraries/connection.mjs'
import { load } from '../../compare/libraries/peer.mjs'
import { callsOf, quantile, startServer, table } from '../../support/support.mjs'

const CALLERS = [2, 10, 40]

const [rounds = 5, ms = 1_000, clients = 4, permits = 1] = process.argv.slice(2, 6).map(Number)
const [other] = process.argv.slice(6)

/** Opens semaphores with the `Holdfast` of one build. */
const holdfastOf = (Client) => async (url, waiters) => {
  const all = Array.from({ length: Math.min(clients, waiters) }, () => new Client({ redis: url }))
  const semaphores = all.map((client) => client.getSemaphore('permit'))
  await semaphores[0].trySetPermits(permits)
  return {
    take: async (i) => {
      const semaphore = semaphores[i % semaphores.length]
      await semaphore.acquire()
      return () => semaphore.release()
    },
    end: () => Promise.all(all.map((client) => client.close())),
  }
}

async function otherBuild() {
  const entry = new URL('dist/esm/src/index.js', pathToFileURL(`${resolve(other)}/`))
  return holdfastOf((await import(entry)).Holdfast)
}

/**
 * Each kind has a function `take`, which acquires the permit for a caller and returns a function that releases it.
 */
const CONTESTANTS = {
  holdfast: holdfastOf(Holdfast),
  ...(other && { 'the other build': await otherBuild() }),
  async list(url, waiters) {
    const all = await Promise.all(Array.from({ length: waiters }, () => connect(url)))
    await all[0].lpush('list', ...Array(permits).fill(1))
    return {
      take: async (i) => {
        await all[i].blpop('list', 0)
        return () => all[i].lpush('list', 1)
      },
      end: async () => {
        for (const client of all) client.disconnect()
      },
    }
  },
  async 'redis-semaphore'(url, waiters) {
    const { Semaphore } = await load('redis-semaphore')
    const all = await Promise.all(
      Array.from({ length: Math.min(clients, waiters) }, () => connect(url)),
    )
    const options = { lockTimeout: 30_000, acquireTimeout: 3_600_000, retryInterval: 10 }
    return {
      take: async (i) => {
        const semaphore = new Semaphore(all[i % all.length], 'theirs', permits, options)
        await semaphore.acquire()
        return () => semaphore.release()
      },
      end: async () => {
        for (const client of all) client.disconnect()
      },
    }
  },
}

const names = Object.keys(CONTESTANTS)
const hasPeers = existsSync(new URL('../../peers/node_modules/redis-semaphore', import.meta.url))
if (!hasPeers) names.splice(names.indexOf('redis-semaphore'), 1)

const server = await startServer()
const rows = []
for (const waiters of CALLERS.filter((callers) => callers > permits)) {
  const results = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = -1; round < rounds; round++) {
    for (const name of names) {
      const result = await run(CONTESTANTS[name], waiters)
      // The first round warms up.
      if (round >= 0) results[name].push(result)
    }
  }
  const median = (name, of) => quantile(results[name].map(of), 0.5)
  for (const name of names) {
    const perSecond = median(name, ({ perSecond }) => perSecond)
    const ratios = results[name].map((one, i) => one.perSecond / results.list[i].perSecond)
    rows.push([
      `${waiters} callers: ${name}`,
      perSecond.toFixed(0),
      quantile(ratios, 0.5).toFixed(2),
      median(name, ({ scripts }) => scripts).toFixed(2),
      median(name, ({ fewest, most }) => most / Math.max(1, fewest)).toFixed(1),
    ])
  }
}
table(['', 'hand-offs/s', 'of the list', 'scripts each', 'most:fewest'], rows)
await server.stop()

async function run(contestant, waiters) {
  await server.admin.flushall()
  const { take, end } = await contestant(server.url, waiters)
  await server.admin.config('RESETSTAT')
  const counts = new Array(waiters).fill(0)
  const from = performance.now()
  const one = async (i) => {
    while (performance.now() - from < ms) {
      const letGo = await take(i)
      counts[i] += 1
      await letGo()
    }
  }
  await Promise.all(counts.map((_, i) => one(i)))
  const tookMs = performance.now() - from
  const { evalsha = 0, eval: sources = 0 } = await callsOf(server.admin)
  await end()
  const all = counts.reduce((sum, count) => sum + count, 0)
  return {
    perSecond: (all * 1_000) / tookMs,
    scripts: (evalsha + sources) / all,
    fewest: Math.min(...counts),
    most: Math.max(...counts),
  }
}
