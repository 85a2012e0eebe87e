// Measures the scripts of Redis for each grant of a read-write lock while 2, 10 and 40 callers wait. INFO
// commandstats counts the scripts, including the release. Writers acquire the lock in turns. Readers wait for a
// writer, and acquire the lock together when the writer releases. The callers are in separate processes, or in one
// process.
// Run `npm run build`, then `node bench/probes/read-write/grants.mjs [seconds] [rounds]`. `--quick` makes a short
// run. The program exits with code 1 if keys stay.
import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../../dist/esm/src/index.js'
import {
  callsOf,
  now,
  serve,
  startServer,
  startWorker,
  table,
  until,
} from '../../support/support.mjs'
import { keysLeft } from '../../support/witness.mjs'

const HOLD_MS = 1

if (process.argv[2] === 'worker') work(process.argv[3])
else await measure(process.argv.slice(2))

function work(url) {
  const client = new Holdfast({ redis: url })
  let turning = false
  serve({
    ready: () => client.getLock('ready').isLocked(),
    /** `tasks` tasks write again and again. Resolves with the times of their grants. */
    write: async (name, tasks) => {
      const moments = []
      turning = true
      const task = async () => {
        while (turning) {
          const lease = await client.getReadWriteLock(name).writeLock().lock()
          moments.push(now())
          await pause(HOLD_MS)
          await lease.release()
        }
      }
      await Promise.all(Array.from({ length: tasks }, task))
      return moments
    },
    stop: () => {
      turning = false
    },
    /** `tasks` tasks read once. All of them hold for the same time. */
    read: async (name, tasks) => {
      const task = async () => {
        const lease = await client.getReadWriteLock(name).readLock().lock()
        await pause(HOLD_MS)
        await lease.release()
      }
      await Promise.all(Array.from({ length: tasks }, task))
    },
    close: () => client.close(),
  })
}

async function measure(args) {
  const quick = args.includes('--quick')
  const [seconds = quick ? 0.2 : 3, rounds = quick ? 2 : 20] = args
    .filter((arg) => arg !== '--quick')
    .map(Number)
  const server = await startServer()
  const sizes = quick ? [2] : [2, 10, 40]
  const workers = Array.from({ length: Math.max(...sizes) + 1 }, () =>
    startWorker(import.meta.url, server.url),
  )
  await Promise.all(workers.map((worker) => worker.call('ready')))
  const writer = new Holdfast({ redis: server.url })
  const rows = []
  for (const waiting of sizes) {
    for (const where of ['processes', 'one process']) {
      const written = await writers(waiting, where)
      const read = await readers(waiting, where)
      rows.push([`${waiting}, ${where}`, ...written, ...read])
    }
  }
  table(['waiters', 'writes', 'scripts for each write', 'reads', 'scripts for each read'], rows)
  const left = await keysLeft(server.admin)
  console.log(`keys left: ${left.length}`)
  process.exitCode = left.length > 0 ? 1 : 0
  for (const worker of workers) await worker.call('close')
  for (const worker of workers) worker.kill()
  await writer.close()
  await server.stop()

  /** The workers for `count` callers, and the number of callers in each worker. */
  function spread(count, where) {
    return where === 'processes' ? [workers.slice(0, count), 1] : [workers.slice(0, 1), count]
  }

  /** Counts the requests in the middle of the run. One caller writes, and `waiting` callers wait. */
  async function writers(waiting, where) {
    const [some, tasks] = spread(waiting + 1, where)
    const name = `write:${waiting}:${where}`
    const all = some.map((worker) => worker.call('write', name, tasks))
    await pause(300 + waiting * 10)
    await server.admin.config('RESETSTAT')
    const from = now()
    await pause(seconds * 1_000)
    const scripts = await scriptsRun()
    const to = now()
    await Promise.all(some.map((worker) => worker.call('stop')))
    const moments = (await Promise.all(all)).flat().filter((at) => at >= from && at < to)
    return [moments.length, (scripts / moments.length).toFixed(2)]
  }

  /**
   * The readers request the lock before the writer releases it. The number counts the requests of the readers before
   * and after this release, but not the release itself.
   */
  async function readers(waiting, where) {
    const [some, tasks] = spread(waiting, where)
    let scripts = 0
    for (let round = 0; round < rounds; round += 1) {
      const name = `read:${waiting}:${where}:${round}`
      const lock = writer.getReadWriteLock(name)
      const lease = await lock.writeLock().lock()
      await server.admin.config('RESETSTAT')
      const all = some.map((worker) => worker.call('read', name, tasks))
      await until(async () => (await listeners(name)) === some.length, 'waiting readers')
      // Each reader sends another request when its subscription is confirmed.
      await pause(100)
      await lease.release()
      await Promise.all(all)
      scripts += (await scriptsRun()) - 1
    }
    const grants = rounds * waiting
    return [grants, (scripts / grants).toFixed(2)]
  }

  async function listeners(name) {
    return (await server.admin.pubsub('NUMSUB', `redisson_rwlock:{${name}}`))[1]
  }

  async function scriptsRun() {
    const { evalsha = 0, eval: whole = 0 } = await callsOf(server.admin)
    return evalsha + whole
  }
}
