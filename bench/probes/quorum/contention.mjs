// Measures the cost of contention on a quorum. Each contender is a separate client. The contenders want one lock of
// 1, 3 or 5 masters, or of one server, and hold it for a millisecond. The program measures the requests at each
// server for one acquisition, the acquisitions per second, and the waits.
// Run `npm run build`, then `node bench/probes/quorum/contention.mjs [seconds] [contenders…]`. `--quick` makes a
// short run.
import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../../dist/esm/src/index.js'
import { startMasters } from '../../support/masters.mjs'
import {
  aboutTheMachine,
  callsOf,
  now,
  quantile,
  serve,
  startWorker,
  table,
} from '../../support/support.mjs'

const HOLD_MS = 1
const MOST_PROCESSES = 4

if (process.argv[2] === 'worker') work(...process.argv.slice(3))
else await measure(process.argv.slice(2))

function work(urls, isSingle, contenders) {
  const masters = urls.split(',')
  const clients = Array.from(
    { length: Number(contenders) },
    () => new Holdfast(isSingle === 'true' ? { redis: urls } : { masters }),
  )
  const waits = []
  const one = async (client, end) => {
    const lock = client.getLock('contention')
    while (now() < end) {
      const start = now()
      const lease = await lock.lock()
      waits.push(now() - start)
      await pause(HOLD_MS)
      await lease.release()
    }
  }
  serve({
    ready: () => Promise.all(clients.map((client) => client.getLock('contention').isLocked())),
    run: async (seconds) => {
      const end = now() + seconds * 1_000
      await Promise.all(clients.map((client) => one(client, end)))
      return waits
    },
    close: () => Promise.all(clients.map((client) => client.close())),
  })
}

async function run(servers, isSingle, contenders, seconds) {
  const urls = servers.map(({ url }) => url).join(',')
  const processes = Math.min(contenders, MOST_PROCESSES)
  const workers = Array.from({ length: processes }, () =>
    startWorker(import.meta.url, urls, isSingle, contenders / processes),
  )
  await Promise.all(workers.map((worker) => worker.call('ready')))
  for (const { admin } of servers) await admin.config('RESETSTAT')
  const start = now()
  const waits = (await Promise.all(workers.map((worker) => worker.call('run', seconds)))).flat()
  const tookS = (now() - start) / 1_000
  const [asked, told] = [[], []]
  for (const { admin } of servers) {
    const { pttl = 0, evalsha = 0, eval: sources = 0 } = await callsOf(admin)
    // Only the script that requests a lock reads its TTL, once for each request.
    asked.push(pttl / waits.length)
    told.push((evalsha + sources) / waits.length)
  }
  await Promise.all(workers.map((worker) => worker.call('close')))
  for (const worker of workers) worker.kill()
  await Promise.all(workers.map(({ ended }) => ended))
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length
  return [
    mean(asked).toFixed(2),
    mean(told).toFixed(2),
    (waits.length / tookS).toFixed(0),
    `${quantile(waits, 0.5).toFixed(1)} ms`,
    `${quantile(waits, 0.99).toFixed(0)} ms`,
    `${quantile(waits, 1).toFixed(0)} ms`,
  ]
}

async function measure(args) {
  const quick = args.includes('--quick')
  const numbers = args.filter((arg) => /^[\d.]+$/.test(arg)).map(Number)
  const [seconds = quick ? 0.5 : 10, ...some] = numbers
  const contenders = some.length > 0 ? some : quick ? [2, 8] : [2, 8, 32]
  const [single, ...masters] = await startMasters(6)
  for (const master of masters) await master.letVote()
  const kinds = [
    ['one server', [single], true],
    ['1 master', masters.slice(0, 1), false],
    ['3 masters', masters.slice(0, 3), false],
    ['5 masters', masters, false],
  ]
  const rows = []
  for (const count of contenders) {
    for (const [what, servers, isSingle] of kinds) {
      rows.push([`${count}, ${what}`, ...(await run(servers, isSingle, count, seconds))])
    }
  }
  console.log(`${aboutTheMachine()}; held for ${HOLD_MS} ms, ${seconds} s each`)
  table(
    ['contenders', 'requests', 'scripts', 'acquisitions/s', 'wait p50', 'wait p99', 'max'],
    rows,
  )
  await Promise.all([single, ...masters].map((server) => server.stop()))
}
