// Measures the cost of a long queue. One client has n waiters in the queue of one fair lock, or spread over n / 10
// locks. Another client sends PINGs. Only heartbeats run meanwhile. The program reports the longest script, the
// longest PING, and the longest block of the event loop of the waiting client. It also measures isLocked() and
// inspect().
// Run `npm run build`, then `node bench/probes/fair/long-queue.mjs [n…]`. `--quick` makes a short run. The program
// exits with code 1 if it finds an error.
import { setMaxListeners } from 'node:events'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { inspect, peek } from '../../../.cache/modules/src/servers/redis/scripts/lock.generated.js'
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

/** The number of waiters for each lock, if the waiters are spread. */
const EACH = 10

if (process.argv[2] === 'worker') work(process.argv[3])
else await measure(process.argv.slice(2))

function work(url) {
  let client
  let leaving
  serve({
    /** Waits for the given locks, `count` times for each lock. Returns at once. */
    wait: (names, count) => {
      client = new Holdfast({ redis: url, commandTimeoutMs: 60_000, outageMs: 60_000 })
      leaving = new AbortController()
      const { signal } = leaving
      setMaxListeners(0, signal)
      for (const name of names) {
        const lock = client.getFairLock(name)
        for (let i = 0; i < count; i++) lock.lock({ signal }).catch(() => {})
      }
    },
    /** The longest block of the event loop, in milliseconds. */
    blocked: async (ms) => {
      const delay = monitorEventLoopDelay({ resolution: 1 })
      delay.enable()
      await pause(ms)
      delay.disable()
      return delay.max / 1e6
    },
    leave: async () => {
      leaving.abort()
      await client.close()
    },
  })
}

async function measure(args) {
  const quick = args.includes('--quick')
  const given = args.filter((arg) => /^\d+$/.test(arg)).map(Number)
  const sizes = given.length > 0 ? given : quick ? [300] : [1_000, 10_000, 30_000]
  const watchMs = quick ? 600 : 5_000
  const server = await startServer()
  const pinging = new Redis(server.url)
  const holder = new Holdfast({ redis: server.url, leaseMs: 600_000 })
  const rows = []
  for (const size of sizes) {
    for (const spread of [false, true]) {
      const names = Array.from({ length: spread ? size / EACH : 1 }, (_, i) => `${size}:${i}`)
      const leases = await Promise.all(names.map((name) => holder.getFairLock(name).lock()))
      const worker = startWorker(import.meta.url, server.url)
      await worker.call('wait', names, size / names.length)
      for (const name of names) {
        const full = size / names.length
        const key = `holdfast_queue:{${name}}`
        await until(async () => (await server.admin.zcard(key)) === full, 'the queue', 120_000)
      }
      await pause(1_000)
      await server.admin.config('SET', 'slowlog-log-slower-than', '100')
      await server.admin.config('SET', 'slowlog-max-len', '10000')
      await server.admin.slowlog('RESET')
      const cpu = await cpuOf(server.admin)
      const blocked = worker.call('blocked', watchMs)
      const pings = await pingFor(pinging, watchMs)
      const blockedMs = await blocked
      const used = (await cpuOf(server.admin)) - cpu
      const slow = await server.admin.slowlog('GET', 10_000)
      const longest = Math.max(0, ...slow.map(([, , us]) => us)) / 1_000
      const looked = holder.getFairLock(names[0])
      const locked = await timed(server, peek.script, () => looked.isLocked())
      const inspected = await timed(server, inspect.script, () => looked.inspect())
      rows.push([
        `${size} on ${names.length} lock${spread ? 's' : ''}`,
        longest.toFixed(1),
        Math.max(...pings).toFixed(1),
        quantile(pings, 0.999).toFixed(1),
        `${((used / watchMs) * 100_000).toFixed(0)} %`,
        blockedMs.toFixed(0),
        ...[...locked, ...inspected].map((ms) => ms.toFixed(1)),
      ])
      await worker.call('leave')
      worker.kill()
      await Promise.all(leases.map((lease) => lease.release()))
    }
  }
  table(
    [
      'waiters',
      'script max ms',
      'PING max ms',
      'p99.9',
      'CPU of Redis',
      'event loop max ms',
      'isLocked() ms',
      'in Redis',
      'inspect() ms',
      'in Redis',
    ],
    rows,
  )
  await holder.close()
  pinging.disconnect()
  const left = await keysLeft(server.admin)
  console.log(`keys left: ${left.length}`)
  process.exitCode = left.length > 0 ? 1 : 0
  await server.stop()
}

/** The time of each PING, in milliseconds. */
async function pingFor(redis, ms) {
  const times = []
  for (const end = now() + ms; now() < end; ) {
    const start = now()
    await redis.ping()
    times.push(now() - start)
    await pause(1)
  }
  return times
}

/** The user CPU time of the server's main thread, in seconds. */
async function cpuOf(admin) {
  const [, user] = /used_cpu_user_main_thread:(\S+)/.exec(await admin.info('cpu')) ?? []
  return Number(user)
}

/** @returns the median time of several calls, and the longest run of their script */
async function timed(server, script, call) {
  const times = []
  await server.admin.slowlog('RESET')
  await server.admin.config('SET', 'slowlog-log-slower-than', '0')
  for (let i = 0; i < 9; i++) {
    const start = now()
    await call()
    times.push(now() - start)
  }
  const slow = await server.admin.slowlog('GET', 10_000)
  await server.admin.config('SET', 'slowlog-log-slower-than', '100')
  const runs = slow.filter(
    // The slow log shortens long arguments.
    ([, , , [, text = '']]) =>
      text === script.sha1 || (text !== '' && script.source.startsWith(text.slice(0, 100))),
  )
  return [quantile(times, 0.5), Math.max(0, ...runs.map(([, , us]) => us)) / 1_000]
}
