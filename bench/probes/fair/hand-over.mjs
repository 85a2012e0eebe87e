// Measures the cost of a hand-off with a fair lock and with a plain lock. The first part counts the scripts and
// commands of Redis for each hand-off, while 2, 10 and 40 processes wait. The second part measures the time from just
// before the call of release() until lock() resolves in another process. It uses a direct connection, and a network
// with 5 ms each way. A message alone, from PUBLISH to the other process, is the lower limit of this time.
// Run `npm run build`, then `node bench/probes/fair/hand-over.mjs [seconds] [rounds]`. With 0 seconds, the program
// skips the scripts. `--quick` makes a short run. The program exits with code 1 if keys stay.
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { Holdfast } from '../../../dist/esm/src/index.js'
import {
  callsOf,
  now,
  openSlowWay,
  quantile,
  serve,
  startServer,
  startWorker,
  table,
  until,
} from '../../support/support.mjs'
import { keysLeft } from '../../support/witness.mjs'

const ONE_WAY_MS = 5
const KINDS = { fair: 'getFairLock', plain: 'getLock' }

if (process.argv[2] === 'worker') work(process.argv[3])
else await measure(process.argv.slice(2))

function work(url) {
  const client = new Holdfast({ redis: url })
  const lockOf = (kind, name) => client[KINDS[kind]](name)
  let turning = false
  let listener
  serve({
    ready: () => client.getLock('ready').isLocked(),
    /** Queues again after each hold. Resolves with the times of its holds. */
    turns: async (kind, name, holdMs) => {
      turning = true
      const moments = []
      while (turning) {
        const lease = await lockOf(kind, name).lock()
        moments.push(now())
        if (holdMs > 0) await pause(holdMs)
        await lease.release()
      }
      return moments
    },
    stop: () => {
      turning = false
    },
    take: async (kind, name) => {
      const lease = await lockOf(kind, name).lock()
      const at = now()
      await lease.release()
      return at
    },
    listen: async () => {
      listener ??= new Redis(url)
      await listener.subscribe('bare')
    },
    hear: () => new Promise((resolve) => listener.once('message', () => resolve(now()))),
    /** Starts a slow network before the server. */
    slow: (target) => openSlowWay(target, ONE_WAY_MS),
    close: () => {
      listener?.disconnect()
      return client.close()
    },
  })
}

async function measure(args) {
  const quick = args.includes('--quick')
  const [seconds = quick ? 0.2 : 2.5, rounds = quick ? 3 : 120] = args
    .filter((arg) => arg !== '--quick')
    .map(Number)
  const server = await startServer()
  const start = () => startWorker(import.meta.url, server.url)
  const plans = seconds === 0 ? [] : quick ? ['2 1'] : ['2 1', '10 1', '40 1', '40 20']
  const most = Math.max(0, ...plans.map((plan) => Number.parseInt(plan, 10) + 1))
  const workers = Array.from({ length: most }, start)
  await Promise.all(workers.map((worker) => worker.call('ready')))
  const rows = []
  for (const plan of plans) {
    const [waiting, holdMs] = plan.split(' ').map(Number)
    for (const kind of ['fair', 'plain']) {
      // One process holds the lock.
      const turned = await turns(workers.slice(0, waiting + 1), kind, holdMs, seconds)
      rows.push([`${waiting}, each holds ${holdMs} ms`, kind, ...turned])
    }
  }
  if (rows.length > 0) {
    table(
      [
        'waiting processes',
        'lock',
        'hand-offs',
        'ms each',
        'scripts for each',
        'without the queue script',
        'commands',
      ],
      rows,
    )
  }
  for (const worker of workers) await worker.call('close')
  for (const worker of workers) worker.kill()
  const network = start()
  const slowPort = await network.call('slow', server.port)
  const latency = [
    ...(await latencies('direct', server.port)),
    ...(await latencies(`${ONE_WAY_MS} ms each way`, slowPort)),
  ]
  table(['network', 'from release to next holder', 'rounds', 'ms p50', 'p99', 'max'], latency)
  const left = await keysLeft(server.admin)
  console.log(`keys left: ${left.length}`)
  process.exitCode = left.length > 0 ? 1 : 0
  network.kill()
  await server.stop()

  /** All processes acquire the lock in turns. Counts the commands of Redis in the middle of this time. */
  async function turns(some, kind, holdMs, seconds) {
    const name = `turns:${kind}:${some.length}:${holdMs}`
    const all = some.map((worker) => worker.call('turns', kind, name, holdMs))
    await pause(300 + some.length * (holdMs + 5))
    await server.admin.config('RESETSTAT')
    const from = now()
    await pause(seconds * 1_000)
    const calls = await callsOf(server.admin)
    const to = now()
    await Promise.all(some.map((worker) => worker.call('stop')))
    const moments = (await Promise.all(all)).flat().filter((at) => at >= from && at < to)
    const count = moments.length
    const scripts = ((calls.evalsha ?? 0) + (calls.eval ?? 0)) / count
    // At most two commands come from the measurement itself.
    const commands = Object.values(calls).reduce((sum, one) => sum + one, 0) / count
    return [
      count,
      ((to - from) / count).toFixed(1),
      scripts.toFixed(2),
      (scripts - 1).toFixed(2),
      commands.toFixed(1),
    ]
  }

  async function latencies(network, port) {
    const url = `redis://127.0.0.1:${port}`
    const holder = new Holdfast({ redis: url })
    const waiter = startWorker(import.meta.url, url)
    const publisher = new Redis(url)
    await waiter.call('listen')
    const times = { 'a message alone': [], fair: [], plain: [] }
    for (let i = -2; i < 2 * rounds; i++) {
      const heard = waiter.call('hear')
      await pause(5)
      const sent = now()
      const sending = publisher.publish('bare', '')
      if (i >= 0) times['a message alone'].push((await heard) - sent)
      await Promise.all([heard, sending])
      const kind = i % 2 === 0 ? 'fair' : 'plain'
      const name = `latency:${kind}`
      const lease = await holder[KINDS[kind]](name).lock()
      const taken = waiter.call('take', kind, name)
      await until(() => isWaitedFor(kind, name), 'a waiter')
      // A waiter sends another request when its subscription is confirmed. Some waiters have waited longer.
      await pause(25 + Math.random() * (i % 10 < 2 ? 600 : 20))
      const start = now()
      const released = lease.release()
      const took = (await taken) - start
      if (i >= 0) times[kind].push(took)
      await released
    }
    await waiter.call('close')
    waiter.kill()
    publisher.disconnect()
    await holder.close()
    return Object.entries(times).map(([kind, all]) => [
      network,
      kind,
      all.length,
      ...[0.5, 0.99, 1].map((q) => quantile(all, q).toFixed(1)),
    ])
  }

  async function isWaitedFor(kind, name) {
    if (kind === 'plain') {
      return (await server.admin.pubsub('NUMSUB', `redisson_lock__channel:{${name}}`))[1] > 0
    }
    const marks = await server.admin.hvals(`holdfast_waiting:{${name}}`)
    return marks.length === 1 && / [12] /.test(marks[0])
  }
}
