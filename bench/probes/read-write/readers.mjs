// Measures the acquisitions per second of readers of one lock. There are 1, 4 and 16 readers in one process, and 16
// readers in four processes. The program compares several kinds. The floor is one script that checks for a writer and
// stores the reader, and one command that removes the reader. The other kinds are the scripts of Holdfast without its
// client, `getLock` with one name for each caller, and Redisson with `--java`. The readers of Redisson are threads of
// one JVM. All kinds take turns in short blocks, in alternating order. A ratio is the median of the ratios of all
// rounds.
// Run `npm run build`, then `node bench/probes/read-write/readers.mjs [rounds] [--java]`. `--quick` makes a short
// run.
import { setTimeout as pause } from 'node:timers/promises'
import { readWriteKeys } from '../../../.cache/modules/src/servers/redis/key-names/read-write.js'
import * as scripts from '../../../.cache/modules/src/servers/redis/scripts/read-write.generated.js'
import { Holdfast } from '../../../dist/esm/src/index.js'
import { median } from '../../compare/figures.mjs'
import { connectAsHoldfast } from '../../compare/libraries/connection.mjs'
import { startJava } from '../../support/java.mjs'
import { now, serve, startServer, startWorker, table } from '../../support/support.mjs'

const LEASE_MS = 30_000
const COUNTER_MS = 3_600_000
const NEVER = 0
/** The client sends this value with each request. */
const ALIVE_MS = 3_000
const CLAIM_MS = 1_500
const ENTER =
  "return redis.call('EXISTS', KEYS[2]) == 0 and redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])"

/** A JVM starts threads for each block. */
const JVM_STRETCH = 3
const FLOOR = 'floor: EVALSHA + ZREM'
const SIZES = [
  { processes: 1, readers: 1 },
  { processes: 1, readers: 4 },
  { processes: 1, readers: 16 },
  { processes: 4, readers: 4 },
]

if (process.argv[2] === 'worker') await work(process.argv[3])
else await measure(process.argv.slice(2))

async function work(url) {
  const client = new Holdfast({ redis: url })
  const bare = await connectAsHoldfast(url)
  const enter = await bare.script('LOAD', ENTER)
  for (const { script } of [scripts.acquireRead, scripts.release])
    await bare.script('LOAD', script.source)
  let ids = 0
  const newId = () => {
    ids += 1
    return `bench-${process.pid}:${ids}`
  }
  /** Each function acquires the lock once, and returns a function that releases it. */
  const kinds = {
    [FLOOR]: async (name) => {
      const id = newId()
      await bare.evalsha(enter, 2, `floor:${name}`, `floor:${name}:writer`, id, now() + LEASE_MS)
      return () => bare.zrem(`floor:${name}`, id)
    },
    "Holdfast's scripts, called by ten lines": async (name) => {
      const id = newId()
      const of = `bench-${process.pid}`
      const names = readWriteKeys(`scripts:${name}`)
      const { prefix, channel } = names
      const run = ({ script, keysOf }, ...args) =>
        bare.evalsha(script.sha1, 6, ...keysOf(names), id, ...args)
      const asked = [LEASE_MS, NEVER, COUNTER_MS, prefix, '', of, 1, ALIVE_MS]
      const [kind, token] = await run(scripts.acquireRead, ...asked)
      if (kind !== 'granted') throw new Error(`${name} is held, and this code does not wait`)
      return () => run(scripts.release, token, channel, 'PUBLISH', prefix, of, CLAIM_MS)
    },
    Holdfast: async (name) => {
      const lease = await client.getReadWriteLock(name).readLock().lock()
      return () => lease.release()
    },
    'Holdfast, getLock, a name each': async (name, i) => {
      const lease = await client.getLock(`${name}:${process.pid}:${i}`).lock()
      return () => lease.release()
    },
  }
  serve({
    kinds: () => Object.keys(kinds),
    /** Resolves with the number of acquisitions and releases until the end. */
    block: async (kind, name, readers, startAt, ms) => {
      const take = kinds[kind]
      await pause(startAt - now())
      const end = startAt + ms
      let count = 0
      const reader = async (_, i) => {
        while (now() < end) {
          const release = await take(name, i)
          await release()
          if (now() < end) count += 1
        }
      }
      await Promise.all(Array.from({ length: readers }, reader))
      return count
    },
    close: async () => {
      bare.disconnect()
      await client.close()
    },
  })
}

async function measure(args) {
  const quick = args.includes('--quick')
  const withJava = args.includes('--java')
  const [rounds = quick ? 2 : 30] = args.filter((arg) => !arg.startsWith('--')).map(Number)
  const [blockMs, warmUpMs] = quick ? [40, 60] : [100, 1_000]
  const server = await startServer()
  const workers = Array.from({ length: 4 }, () => startWorker(import.meta.url, server.url))
  const kinds = await workers[0].call('kinds')
  const java = withJava ? await startJava() : undefined
  await java?.ask('open', { client: 'bench', port: server.port })
  if (java) kinds.push('Redisson (Java)')

  const rows = []
  for (const { processes, readers } of SIZES.slice(0, quick ? 2 : undefined)) {
    const some = workers.slice(0, processes)
    const block = (kind, ms) =>
      kind.startsWith('Redisson')
        ? inJava(processes * readers, ms * JVM_STRETCH)
        : inProcesses(some, kind, readers, ms)
    for (const kind of kinds) await block(kind, warmUpMs)
    const rates = Object.fromEntries(kinds.map((kind) => [kind, []]))
    for (let round = 0; round < rounds; round += 1) {
      const order = round % 2 === 0 ? kinds : kinds.toReversed()
      for (const kind of order) rates[kind].push(await block(kind, blockMs))
    }
    const where = processes === 1 ? `${readers}` : `${processes} × ${readers}`
    for (const kind of kinds) {
      const ratio = median(rates[kind].map((rate, i) => rate / rates[FLOOR][i]))
      rows.push([where, kind, median(rates[kind]).toFixed(0), ratio.toFixed(2)])
    }
  }
  table(['readers', 'lock', 'acquisitions/s', 'of floor'], rows)
  for (const worker of workers) await worker.call('close')
  for (const worker of workers) worker.kill()
  java?.stop()
  await server.stop()

  async function inProcesses(some, kind, readers, ms) {
    const startAt = now() + 5
    const counts = await Promise.all(
      some.map((worker) => worker.call('block', kind, 'read', readers, startAt, ms)),
    )
    return (counts.reduce((sum, count) => sum + count, 0) / ms) * 1_000
  }

  async function inJava(threads, ms) {
    const startMs = now() + 20
    const request = { client: 'bench', kind: 'RReadWriteLock.readLock', names: ['java'] }
    const asked = { ...request, threads, holdMs: 0, startMs, ms }
    const turns = (await java.ask('take', asked)).value.flat()
    return (turns.filter(([at]) => at < startMs + ms).length / ms) * 1_000
  }
}
