// Checks that a fair lock serves its waiters first come, first served. Several processes with several waiters want
// one lock. Some waiters give up at random, by a timeout or an abort. The program judges from outside: by the order
// of actions in Redis (MONITOR), and by a journal of the holders.
// Run `npm run build`, then `node bench/probes/fair/order.mjs [grants] [processes] [waiters]`. `--quick` makes a
// short run. The program exits with code 1 if it finds an error.
import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../../dist/esm/src/index.js'
import { now, serve, spread, startServer, startWorker, table } from '../../support/support.mjs'
import {
  FairJudge,
  JOURNAL,
  Journal,
  keysLeft,
  openMonitor,
  watchTtls,
} from '../../support/witness.mjs'

const LOCK = 'fair-order'
/** The time of a rare long hold, in milliseconds. It is so long that heartbeats must keep the places. */
const LONG_HOLD_MS = 800

if (process.argv[2] === 'worker') work(...process.argv.slice(3))
else await measure(process.argv.slice(2))

function work(url, waiters) {
  const client = new Holdfast({ redis: url })
  const journal = new Journal(url)
  const tally = { granted: 0, aborted: 0, timedOut: 0, refused: 0, lost: 0, errors: [], waits: [] }
  client.on('lost', () => {
    tally.lost += 1
  })
  let meanMs = 20
  let more = true

  /** Most calls wait without a limit. Other calls wait for about the usual time. */
  const attempt = async () => {
    const lock = client.getFairLock(LOCK)
    const way = Math.random()
    const waitMs = Math.ceil(Math.random() * 2 * meanMs)
    if (way < 0.7) return lock.lock()
    if (way < 0.83) {
      return lock.tryLock(waitMs).then(
        (lease) => lease ?? 'timedOut',
        (error) => {
          // The time was too short even for the first answer.
          if (error.name === 'RedisUnavailableError') return 'timedOut'
          throw error
        },
      )
    }
    if (way < 0.86) return (await lock.tryLock()) ?? 'refused'
    const abort = new AbortController()
    const timer = setTimeout(() => abort.abort('enough'), waitMs)
    try {
      return await lock.lock({ signal: abort.signal })
    } catch (reason) {
      if (reason === 'enough') return 'aborted'
      throw reason
    } finally {
      clearTimeout(timer)
    }
  }

  const one = async () => {
    while (more) {
      const start = now()
      const lease = await attempt()
      if (typeof lease === 'string') {
        tally[lease] += 1
        // A pause, because repeated refused calls would keep the server busy.
        if (lease === 'refused') await pause(meanMs / 4)
        continue
      }
      const waitedMs = now() - start
      meanMs += (waitedMs - meanMs) / 50
      tally.granted += 1
      tally.waits.push(waitedMs)
      await journal.enter(lease)
      if (Math.random() < 0.001) await pause(LONG_HOLD_MS)
      await journal.leave(lease)
      await lease.release()
    }
  }

  serve({
    ready: () => client.getFairLock(LOCK).isLocked(),
    run: () =>
      Promise.all(
        Array.from({ length: Number(waiters) }, () =>
          one().catch((error) => tally.errors.push(String(error))),
        ),
      ).then(() => tally),
    stop: () => {
      more = false
    },
    close: () => client.close().then(() => journal.close()),
  })
}

async function measure(args) {
  const quick = args.includes('--quick')
  const numbers = args.filter((arg) => arg !== '--quick').map(Number)
  const [grants = quick ? 300 : 20_000, processes = quick ? 3 : 8, waiters = 8] = numbers
  const server = await startServer()
  await teachScripts(server.url)
  const journal = new Journal(server.url)
  const judge = new FairJudge((key) => key === LOCK)
  const gaps = []
  let leftAt
  const monitor = await openMonitor(server.port, (words, inScript, seconds) => {
    judge.see(words, inScript)
    if (words[1] !== JOURNAL + LOCK || words[0] !== 'rpush') return
    if (words[2].startsWith('+') && leftAt !== undefined) gaps.push((seconds - leftAt) * 1_000)
    leftAt = words[2].startsWith('-') ? Number(seconds) : undefined
  })
  const ttls = watchTtls(server.admin)
  const workers = Array.from({ length: processes }, () =>
    startWorker(import.meta.url, server.url, waiters),
  )
  await Promise.all(workers.map((worker) => worker.call('ready')))
  const start = now()
  const runs = workers.map((worker) => worker.call('run'))
  while ((await journal.length(LOCK)) < 2 * grants) await pause(20)
  await Promise.all(workers.map((worker) => worker.call('stop')))
  const tallies = await Promise.all(runs)
  const seconds = (now() - start) / 1_000
  await Promise.all(workers.map((worker) => worker.call('close')))
  await monitor.caughtUp(server.admin)
  const { bare, looks } = await ttls.stop()
  const left = await keysLeft(server.admin)
  const seen = await journal.read(LOCK)

  const sum = (what) => tallies.reduce((total, tally) => total + tally[what], 0)
  console.log(
    `${processes} processes × ${waiters} waiters, ${seconds.toFixed(0)} s under MONITOR; ` +
      `wait ${spread(tallies.flatMap(({ waits }) => waits))}`,
  )
  console.log(`from one holder to the next ${spread(gaps)}`)
  table(
    [
      'grants',
      'timeouts',
      'aborts',
      'refused at once',
      'queued, by Redis',
      'granted, by Redis',
      'taken back',
    ],
    [
      [
        seen.owners.length,
        sum('timedOut'),
        sum('aborted'),
        sum('refused'),
        judge.arrivals,
        judge.grants,
        judge.passedOver,
      ],
    ],
  )
  const violations = [
    judge.inversions,
    judge.repeated,
    seen.overlaps,
    seen.regressions,
    sum('lost'),
    bare.length,
    left.length,
  ]
  table(
    [
      'inversions',
      'granted twice',
      'overlaps',
      'token regressions',
      'lost leases',
      `keys without TTL (${looks} looks)`,
      'keys left',
    ],
    [violations],
  )
  for (const error of tallies.flatMap(({ errors }) => errors)) console.log(error)
  const found = [...bare, ...left]
  if (found.length > 0) console.log(found.join('\n'))
  const errors = tallies.some((tally) => tally.errors.length > 0)
  // If the judge missed actions of the holders, its result proves nothing.
  const blind = judge.arrivals < seen.owners.length || judge.grants < seen.owners.length
  if (blind) console.log('MONITOR did not show all of it')
  process.exitCode = errors || blind || violations.some((count) => count > 0) ? 1 : 0
  for (const worker of workers) worker.kill()
  monitor.close()
  journal.close()
  await server.stop()
}

/**
 * Loads the scripts. A client sends an unknown script again in full, and this request arrives behind later requests.
 */
async function teachScripts(url) {
  const [one, other] = [new Holdfast({ redis: url }), new Holdfast({ redis: url })]
  const lease = await one.getFairLock('teach').lock()
  const next = other.getFairLock('teach').lock()
  await pause(300)
  await lease.release()
  await (await next).release()
  // A client sends simultaneous calls in one request, with another script.
  await Promise.all([1, 2].map(async () => (await one.getFairLock('teach').lock()).release()))
  await Promise.all([one.close(), other.close()])
}
