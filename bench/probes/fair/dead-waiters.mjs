// Measures the delay that crashed waiters cause for the next live waiter. The program starts k clients that wait for
// a fair lock, and kills their processes with SIGKILL. One live client waits behind them. The time is from just
// before the call of release() until lock() resolves, compared with k = 0. Each killed waiter is a separate client,
// with two connections, one inbox and one place. The program kills the clients only after all of them listen. The
// connections of a process stay open until the operating system has ended the process. Until then, Redis treats the
// clients as live. So the release comes 200 ms after the kill, or right after the kill.
// Run `npm run build`, then `node bench/probes/fair/dead-waiters.mjs [k…] [--rounds n]`. `--quick` makes a short run.
// The program exits with code 1 if it finds an error.
import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../../dist/esm/src/index.js'
import {
  now,
  quantile,
  serve,
  startServer,
  startWorker,
  table,
  until,
} from '../../support/support.mjs'
import { keysLeft } from '../../support/witness.mjs'

/** The number of rounds for k killed clients. Many clients get fewer rounds, because their setup takes longer. */
const ROUNDS = new Map([
  [0, 30],
  [1, 20],
  [10, 20],
  [100, 15],
  [1_000, 4],
])

/** The killed clients of one round share at most this many processes. */
const PROCESSES = 5

/** This many rounds run at the same time if they wait for the end of a claim window. */
const TOGETHER = 5

if (process.argv[2] === 'worker') work(process.argv[3])
else await measure(process.argv.slice(2))

function work(url) {
  const clients = []
  serve({
    /** Waits with `count` clients, each with its own place. */
    wait: (lock, count) => {
      for (let i = 0; i < count; i++) {
        // The connections of hundreds of clients may take long.
        const client = new Holdfast({ redis: url, outageMs: 60_000 })
        clients.push(client)
        client
          .getFairLock(lock)
          .lock()
          .catch((error) => console.log(String(error)))
      }
    },
    /** Waits as one client. Returns the time of the grant, and if the lease was valid. */
    take: async (lock) => {
      clients[0] ??= new Holdfast({ redis: url })
      const lease = await clients[0].getFairLock(lock).lock()
      const at = now()
      const { valid } = lease
      await lease.release()
      return { at, valid }
    },
    close: () => Promise.all(clients.map((client) => client.close())),
  })
}

async function measure(args) {
  const quick = args.includes('--quick')
  const at = args.indexOf('--rounds')
  const rounds = at === -1 ? (quick ? 1 : undefined) : Number(args[at + 1])
  const given = args.filter((arg, i) => /^\d+$/.test(arg) && (at === -1 || i !== at + 1))
  const counts = given.length > 0 ? given.map(Number) : quick ? [3] : [1, 10, 100, 1_000]
  const server = await startServer()
  const holder = new Holdfast({ redis: server.url })
  const alive = startWorker(import.meta.url, server.url)
  let name = 0

  const queued = (lock) => server.admin.zcard(`holdfast_queue:{${lock}}`)

  /** @returns the time of the hand-off, and true if the system had ended all killed processes before */
  async function round(k, delayMs) {
    name += 1
    const lock = `dead:${name}`
    const lease = await holder.getFairLock(lock).lock()
    const doomed = Array.from({ length: Math.min(k, PROCESSES) }, () =>
      startWorker(import.meta.url, server.url),
    )
    await Promise.all(
      doomed.map((worker, i) => {
        const share = Math.floor(k / doomed.length) + (i < k % doomed.length ? 1 : 0)
        return worker.call('wait', lock, share)
      }),
    )
    // All clients have a place and listen.
    await until(
      async () => {
        const marks = await server.admin.hvals(`holdfast_waiting:{${lock}}`)
        return (
          (await queued(lock)) === k && marks.filter((mark) => / [12] /.test(mark)).length === k
        )
      },
      'the queue',
      60_000,
    )
    const taken = alive.call('take', lock)
    await until(async () => (await queued(lock)) === k + 1, 'the live waiter')
    await pause(20 + Math.random() * 500) // Any time between two heartbeats.
    let ended = 0
    for (const worker of doomed) {
      worker.kill()
      void worker.ended.then(() => {
        ended += 1
      })
    }
    if (delayMs > 0) await pause(delayMs)
    const allEnded = ended === doomed.length
    const start = now()
    await lease.release()
    const result = await taken
    await Promise.all(doomed.map((worker) => worker.ended))
    if (!result.valid) throw new Error('the lease was not valid at the grant')
    return { ms: result.at - start, allEnded }
  }

  await round(1, 0) // The server learns the scripts.
  const rows = []
  let baseMs = 0
  for (const k of [0, ...counts]) {
    for (const delayMs of k === 0 ? [200] : [200, 0]) {
      const results = []
      const all = rounds ?? ROUNDS.get(k) ?? 10
      const together = delayMs > 0 || k >= 1_000 ? 1 : TOGETHER
      for (let left = delayMs > 0 ? all : Math.ceil(all / 2); left > 0; left -= together) {
        const some = Array.from({ length: Math.min(left, together) }, () => round(k, delayMs))
        results.push(...(await Promise.all(some)))
      }
      const times = results.map(({ ms }) => ms)
      if (k === 0) baseMs = quantile(times, 0.5)
      const extra = times.map((ms) => ms - (k === 0 ? 0 : baseMs))
      const late = times.filter((ms) => ms > 1_000).length
      rows.push([
        k === 0 ? '0 (the hand-off itself)' : `${k}, ${Math.min(k, PROCESSES)} processes`,
        k === 0 ? '-' : delayMs === 0 ? 'at once' : `${delayMs} ms`,
        times.length,
        ...[0.5, 0.99, 1].map((q) => quantile(extra, q).toFixed(1)),
        late,
        results.filter(({ allEnded }) => allEnded).length,
      ])
    }
  }
  table(
    [
      'SIGKILLed ahead',
      'released after',
      'rounds',
      'extra ms p50',
      'p99',
      'max',
      '> 1 s',
      'all ended before',
    ],
    rows,
  )
  await alive.call('close')
  alive.kill()
  await holder.close()
  const left = await keysLeft(server.admin)
  console.log(`keys left: ${left.length}`)
  process.exitCode = left.length > 0 ? 1 : 0
  await server.stop()
}
