// Measures how a slow, stopped or dead minority affects callers that contend for a lock. Each client is a separate
// process, which starts when the master is already in this state. The clients want one lock of 3 masters for a
// millisecond each. The program measures the acquisitions per second, the waits, and the longest time without a
// grant. The cases take turns. With `--beside <folder>`, the cases of another build also take turns with them.
// Run `npm run build`, then `node bench/probes/quorum/slow-master.mjs [seconds] [rounds] [clients] [--beside
// <folder>] [--far]`. `--quick` makes a short run. With `--far`, a message to each master takes 20 ms.
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { entryOf } from '../../../scripts/lib/entry-of.mjs'
import { startMasters } from '../../support/masters.mjs'
import {
  aboutTheMachine,
  now,
  openSlowWay,
  quantile,
  serve,
  startWorker,
  table,
} from '../../support/support.mjs'

const HOLD_MS = 1
const SLOW_MS = 1_000
const FAR_ONE_WAY_MS = 20

if (process.argv[2] === 'worker') await work(...process.argv.slice(3))
else await measure(process.argv.slice(2))

async function work(build, urls) {
  const { Holdfast } = await import(build)
  let client
  serve({
    ready: () => {},
    run: async (seconds) => {
      client = new Holdfast({ masters: urls.split(','), outageMs: 60_000 })
      client.on('error', () => {})
      const lock = client.getLock('contention')
      const [waits, times] = [[], []]
      const end = now() + seconds * 1_000
      for (let start = now(); start < end; start = now()) {
        const lease = await lock.tryLock(Math.max(1, Math.round(end - start))).catch(() => null)
        if (lease === null) break
        times.push(now())
        waits.push(now() - start)
        await pause(HOLD_MS)
        await lease.release()
      }
      return { waits, times }
    },
    close: () => client.close(),
  })
}

async function run(build, urls, clients, seconds) {
  const workers = Array.from({ length: clients }, () =>
    startWorker(import.meta.url, build, urls.join(',')),
  )
  await Promise.all(workers.map((worker) => worker.call('ready')))
  const start = now()
  const all = await Promise.all(workers.map((worker) => worker.call('run', seconds)))
  const end = now()
  await Promise.race([
    Promise.all(workers.map((worker) => worker.call('close'))),
    pause(8_000, undefined, { ref: false }),
  ])
  for (const worker of workers) worker.kill()
  await Promise.all(workers.map(({ ended }) => ended))
  const times = [start, ...all.flatMap((one) => one.times).sort((a, b) => a - b), end]
  const pauses = times.slice(1).map((at, i) => at - times[i])
  return { waits: all.flatMap((one) => one.waits), longest: Math.max(...pauses) }
}

async function measure(args) {
  const quick = args.includes('--quick')
  const beside = args.includes('--beside') ? args[args.indexOf('--beside') + 1] : undefined
  const numbers = args.filter((arg) => /^[\d.]+$/.test(arg)).map(Number)
  const [seconds = quick ? 1 : 6, rounds = quick ? 1 : 3, clients = 4] = numbers
  const builds = [['this', pathToFileURL(entryOf('.')).href]]
  if (beside) builds.push(['beside', pathToFileURL(entryOf(beside)).href])
  const kinds = ['healthy', 'one dead', `one answers after ${SLOW_MS} ms`, 'one stopped']
  if (args.includes('--far')) kinds.splice(0, 4, `${2 * FAR_ONE_WAY_MS} ms there and back`)
  const results = new Map()
  for (let round = 0; round < rounds; round++) {
    for (const kind of kinds) {
      for (const [name, build] of builds) {
        const masters = await startMasters(3)
        for (const master of masters) await master.letVote()
        const urls = masters.map(({ url }) => url)
        const [, , last] = masters
        if (kind === 'one dead') await last.kill()
        if (kind === 'one stopped') last.signal('SIGSTOP')
        const slow = async ({ port }, ms) => `redis://127.0.0.1:${await openSlowWay(port, ms)}`
        if (kind.startsWith('one answers')) urls[2] = await slow(last, SLOW_MS / 2)
        if (kind.includes('there and back')) {
          for (const [i, one] of masters.entries()) urls[i] = await slow(one, FAR_ONE_WAY_MS)
        }
        const key = `${kind}, ${name}`
        const { waits = [], longest = 0 } = results.get(key) ?? {}
        const one = await run(build, urls, clients, seconds)
        results.set(key, {
          waits: [...waits, ...one.waits],
          longest: Math.max(longest, one.longest),
        })
        last.signal('SIGCONT')
        await Promise.all(masters.map((server) => server.stop()))
      }
    }
  }
  console.log(`${aboutTheMachine()}; ${clients} clients, ${rounds} × ${seconds} s each`)
  const rows = [...results].map(([kind, { waits, longest }]) => [
    kind,
    (waits.length / rounds / seconds).toFixed(0),
    ...[0.5, 0.99].map((q) => (waits.length > 0 ? `${quantile(waits, q).toFixed(1)} ms` : '-')),
    `${longest.toFixed(0)} ms`,
  ])
  table(['masters, build', 'acquisitions/s', 'wait p50', 'p99', 'longest without a grant'], rows)
  process.exit()
}
