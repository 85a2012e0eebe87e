// Checks grants that race the end of a wait. Redis grants the lock to a waiter at the moment of its abort or timeout,
// many times. The program checks that each unused grant passes to the next waiter, that each call settles once, and
// that no keys stay.
// Run `npm run build`, then `node bench/probes/fair/abort-race.mjs [races] [processes] [lanes]`. `--quick` makes a
// short run. With `--flush`, the server loses all scripts ten times per second. The program exits with code 1 if it
// finds an error.
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { Holdfast } from '../../../dist/esm/src/index.js'
import {
  now,
  quantile,
  serve,
  spin,
  startServer,
  startWorker,
  table,
} from '../../support/support.mjs'
import { FairJudge, keysLeft, openMonitor, watchTtls } from '../../support/witness.mjs'

/** The longest wait for the lock after a race. A leaked grant lasts for at least 1.5 s. */
const STALL_MS = 1_000

if (process.argv[2] === 'worker') work(process.argv[3])
else await measure(process.argv.slice(2))

function work(url) {
  const one = new Holdfast({ redis: url })
  const other = new Holdfast({ redis: url })
  const events = { acquired: 0, released: 0, lost: 0 }
  for (const client of [one, other]) {
    for (const event of Object.keys(events)) {
      client.on(event, () => {
        events[event] += 1
      })
    }
  }

  /** Rounds on one lock. Aborts and timeouts alternate, and so do waiters in the same and in another client. */
  async function lane(name, rounds) {
    const tally = { abort: [0, 0, 0], timeout: [0, 0, 0], leases: 0, settles: 0, longestMs: 0 }
    tally.wrong = []
    // The time from the release to the end of the wait. The program adjusts it, so that both outcomes stay frequent.
    const aims = { abort: 0.5, timeout: 0.5 }
    const lock = () => one.getFairLock(name)
    for (let n = 0; n < rounds; n++) {
      const kind = n % 2 === 0 ? 'abort' : 'timeout'
      const client = n % 4 < 2 ? other : one
      const asked = now()
      const lease = await lock().lock()
      tally.leases += 1
      tally.longestMs = Math.max(tally.longestMs, now() - asked)

      const abort = new AbortController()
      // A few waiters wait until heartbeats keep their places.
      const longMs = Math.random() < 0.02 ? 250 + Math.random() * 500 : 0
      const waitMs = 12 + Math.floor(Math.random() * 6 + longMs)
      const waitsFrom = now()
      const waiting =
        kind === 'abort'
          ? client.getFairLock(name).lock({ signal: abort.signal })
          : client.getFairLock(name).tryLock(waitMs)
      let outcome
      const settled = waiting
        .catch((reason) => {
          // The request had no answer in time, so the holder of the lock is unknown.
          if (reason.name === 'RedisUnavailableError' && kind === 'timeout') return undefined
          if (reason !== 'enough') tally.wrong.push(String(reason))
          return null
        })
        .then((won) => {
          tally.settles += 1
          outcome = won ? 0 : won === null ? 1 : 2
          return won
        })
      const offMs = aims[kind] + (Math.random() - 0.5) * 1.5
      if (kind === 'abort') {
        await pauseUntil(waitsFrom + 2 + Math.random() * 2 + longMs)
        const release = lease.release()
        await pauseUntil(now() + offMs)
        abort.abort('enough')
        await release
      } else {
        await pauseUntil(waitsFrom + waitMs - offMs)
        await lease.release()
      }
      const won = await settled
      tally[kind][outcome] += 1
      // Keeps both outcomes equally likely.
      aims[kind] = Math.min(8, Math.max(0, aims[kind] + (won ? -0.1 : 0.1)))
      if (won) {
        tally.leases += 1
        if (!won.valid) tally.wrong.push('a lease was not valid')
        await won.release()
      }
    }
    return tally
  }

  async function pauseUntil(at) {
    const ms = at - now()
    if (ms > 2) await pause(ms - 2)
    await spin(at - now())
  }

  serve({
    /** All clients connect, and have listened once. */
    ready: async () => {
      const name = `ready:${process.pid}`
      for (const [holder, waiter] of [
        [one, other],
        [other, one],
      ]) {
        const lease = await holder.getFairLock(name).lock()
        const next = waiter.getFairLock(name).lock()
        await spin(100)
        await lease.release()
        await (await next).release()
      }
      for (const event of Object.keys(events)) events[event] = 0
    },
    run: (lanes, rounds) =>
      Promise.all(
        Array.from({ length: lanes }, (_, i) => lane(`race:${process.pid}:${i}`, rounds)),
      ),
    close: async () => {
      await Promise.all([one.close(), other.close()])
      return events
    },
  })
}

async function measure(args) {
  const quick = args.includes('--quick')
  const [races = quick ? 400 : 20_000, processes = 2, lanes = 8] = args
    .filter((arg) => !arg.startsWith('--'))
    .map(Number)
  const server = await startServer()
  const isLock = (key) => key?.startsWith('race:')
  await server.admin.config('SET', 'notify-keyspace-events', 'Ex')
  const listener = new Redis(server.url)
  let expired = 0
  listener.on('message', (_, key) => {
    if (isLock(key)) expired += 1
  })
  await listener.subscribe('__keyevent@0__:expired')
  const judge = new FairJudge(isLock)
  const monitor = await openMonitor(server.port, (...line) => judge.see(...line))
  const ttls = watchTtls(server.admin)
  const workers = Array.from({ length: processes }, () => startWorker(import.meta.url, server.url))
  for (const worker of workers) await worker.call('ready')
  const flushes = args.includes('--flush')
    ? setInterval(() => server.admin.script('FLUSH').catch(() => {}), 100)
    : undefined
  const start = now()
  const rounds = Math.ceil(races / processes / lanes)
  const tallies = (
    await Promise.all(workers.map((worker) => worker.call('run', lanes, rounds)))
  ).flat()
  clearInterval(flushes)
  const seconds = (now() - start) / 1_000
  const events = await Promise.all(workers.map((worker) => worker.call('close')))
  await monitor.caughtUp(server.admin)
  const { bare, looks } = await ttls.stop()
  const left = await keysLeft(server.admin)

  const sum = (values) => values.reduce((total, value) => total + value, 0)
  const total = (what) => sum(tallies.map((tally) => tally[what]))
  const told = (event) => sum(events.map((one) => one[event]))
  const outcomes = (kind) => [0, 1, 2].map((i) => sum(tallies.map((tally) => tally[kind][i])))
  console.log(`${seconds.toFixed(0)} s under MONITOR, ${processes} processes × ${lanes} locks`)
  table(
    ['races', 'times', 'the grant won', 'the end of the wait won', 'no answer in time'],
    ['abort', 'timeout'].map((kind) => [kind, sum(outcomes(kind)), ...outcomes(kind)]),
  )
  const done = sum(['abort', 'timeout'].flatMap(outcomes))
  const passedOn = judge.grants - total('leases')
  const longest = tallies.map(({ longestMs }) => longestMs)
  console.log(
    `grants by Redis ${judge.grants}; late grants, passed on or ended: ${passedOn}; ` +
      `longest wait for the lock after a race ${quantile(longest, 1).toFixed(0)} ms`,
  )
  const violations = [
    expired + longest.filter((ms) => ms > STALL_MS).length,
    Math.abs(total('settles') - done) +
      Math.abs(told('acquired') - total('leases')) +
      Math.abs(told('released') - total('leases')) +
      judge.repeated,
    told('lost'),
    bare.length,
    left.length,
  ]
  table(
    [
      'leaked grants',
      'double settles',
      'lost leases',
      `keys without TTL (${looks} looks)`,
      'keys left',
    ],
    [violations],
  )
  for (const wrong of tallies.flatMap((tally) => tally.wrong)) console.log(wrong)
  if (left.length > 0) console.log(left.join('\n'))
  const wrong = tallies.some((tally) => tally.wrong.length > 0)
  process.exitCode = wrong || violations.some((count) => count > 0) ? 1 : 0
  for (const worker of workers) worker.kill()
  monitor.close()
  listener.disconnect()
  await server.stop()
}
