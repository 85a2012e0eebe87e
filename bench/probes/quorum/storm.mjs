// Checks the two promises of a quorum lock while its masters fail one after another. There is at most one valid lease
// at a time, and tokens rise. Several processes with several callers want a few locks of 5 masters. The program
// kills, stops or shuts down one master after another, and restarted masters are empty. A separate server judges the
// holders.
// Run `npm run build`, then `node bench/probes/quorum/storm.mjs [acquisitions] [processes] [callers]`. `--quick`
// makes a short run. The program exits with code 1 if it finds an error. Two options break the lock, to show that the
// program finds errors. With `--break amnesia`, masters that lost data vote at once. With `--break counters`, the
// program sets all counters of one lock back.
import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../../dist/esm/src/index.js'
import { Fence, judge } from '../../support/fence.mjs'
import { startMasters, untilAllVote } from '../../support/masters.mjs'
import { now, serve, spread, startServer, startWorker, table } from '../../support/support.mjs'

const LEASE_MS = 1_000
const LONGEST_LEASE_MS = 2_000
const MASTERS = 5
/** The program disturbs the masters at least this many times, even if the acquisitions are fast. */
const LEAST_ROUNDS = 6
/** All callers of all processes want the first name more often than other names. */
const NAMES = ['hot', 'hot', 'hot', 'warm', 'warm', 'cold-1', 'cold-2', 'cold-3', 'cold-4']

if (process.argv[2] === 'worker') work(...process.argv.slice(3))
else await measure(process.argv.slice(2))

function work(urls, witness, callers) {
  const client = new Holdfast({
    masters: urls.split(','),
    leaseMs: LEASE_MS,
    longestLeaseMs: LONGEST_LEASE_MS,
    outageMs: 10_000,
  })
  client.on('error', () => {})
  const fence = new Fence(witness)
  const tally = {
    attempts: 0,
    acquired: 0,
    refused: 0,
    unavailable: 0,
    lostUnused: 0,
    lostInside: 0,
    lateWrites: 0,
    lateRefused: 0,
    violations: [],
    errors: [],
    waits: [],
  }
  let more = true

  /** Judges the answer of the store that checks tokens. */
  const heard = (verdict, lease) => {
    if (verdict === 'done') return
    // If the lease is still valid, two leases were valid at once, because a later holder has entered.
    if (verdict === 'twice' || lease.valid) {
      tally.violations.push(`${lease.name}, ${lease.token}: ${verdict}, while its lease is valid`)
    } else tally.lateRefused += 1
  }

  /** Works until the planned end, or until the lease is lost. After a loss, it writes once more. */
  const use = async (lease, ms) => {
    const end = now() + ms
    for (let what = 'enter'; ; what = now() < end ? 'write' : 'leave') {
      const at = now()
      if (!lease.valid) {
        if (what === 'enter') tally.lostUnused += 1
        else {
          tally.lostInside += 1
          tally.lateWrites += 1
          heard(await fence.see('late', lease, at), lease)
        }
        return
      }
      heard(await fence.see(what, lease, at), lease)
      if (what === 'leave') return
      await pause(Math.min(Math.max(0, end - now()), 10))
    }
  }

  const one = async () => {
    while (more) {
      const lock = client.getLock(NAMES[Math.floor(Math.random() * NAMES.length)])
      const isCold = lock.name.startsWith('cold')
      const way = Math.random()
      // The watchdog renews half of the leases. The other leases are fixed, and some holders hold longer than their
      // lease.
      const leaseMs = way < 0.5 ? undefined : Math.round(250 + Math.random() * 750)
      const outlives = isCold && way > 0.995
      const abandons = isCold && way > 0.99 && !outlives
      const long = isCold && Math.random() < 0.01
      const holdMs = outlives ? 1_100 : long ? 500 + Math.random() * 2_000 : Math.random() * 4
      const start = now()
      tally.attempts += 1
      let lease
      try {
        lease = await lock.tryLock({ waitMs: 5_000, ...(leaseMs && { leaseMs }) })
      } catch (error) {
        if (error.code === 'HOLDFAST_UNAVAILABLE') tally.unavailable += 1
        else tally.errors.push(String(error))
        continue
      }
      if (lease === null) {
        tally.refused += 1
        continue
      }
      tally.acquired += 1
      tally.waits.push(now() - start)
      await use(lease, holdMs)
      // Like a crashed holder, it does not release. The end of the lease must end the hold.
      if (abandons && leaseMs !== undefined) continue
      await lease.release().catch((error) => {
        if (error.code !== 'HOLDFAST_UNAVAILABLE') tally.errors.push(String(error))
      })
    }
  }

  serve({
    ready: () => client.getLock('ready').isLocked(),
    acquired: () => tally.acquired,
    run: () => Promise.all(Array.from({ length: Number(callers) }, one)).then(() => tally),
    stop: () => {
      more = false
    },
    close: () => client.close().then(() => fence.close()),
  })
}

/** Disturbs the masters, one after another, until there are enough acquisitions. */
async function storm(masters, workers, broken, isEnough) {
  const done = { killed: 0, stopped: 0, 'shut down': 0, 'majorities killed': 0 }
  const hurts = [
    ['killed', (master) => master.killFor(100 + Math.random() * 400)],
    ['stopped', (master) => master.stopFor(200 + Math.random() * 1_000)],
    ['shut down', (master) => master.shutDownFor(Math.random() * 200)],
  ]
  for (let i = 0; i < LEAST_ROUNDS || !(await isEnough()); i++) {
    if (broken === 'counters') {
      for (const { admin } of masters) await admin.set('redisson_lock_token:{hot}', 1_000)
      await pause(200)
      continue
    }
    if (broken === 'amnesia' || i % 20 === 19) {
      const some = [0, 1, 2].map((n) => masters[(i + n) % MASTERS])
      await killMost(some, workers[i % workers.length], broken === 'amnesia')
      done['majorities killed'] += 1
    } else {
      const [what, hurt] = hurts[i % hurts.length]
      await hurt(masters[i % MASTERS])
      done[what] += 1
    }
    // Waits until all other masters vote. Then at most two masters do not vote, and three decide.
    await untilAllVote(masters.filter((_, other) => other !== i % MASTERS))
    await pause(Math.random() * 300)
  }
  return done
}

/**
 * The worst case: the program stops a process that holds locks. Meanwhile a majority of the masters loses its data,
 * one master after another, within one lease.
 */
async function killMost(masters, holders, broken) {
  holders.kill('SIGSTOP')
  for (const master of masters) {
    await master.killFor(0)
    if (broken) await master.letVote()
  }
  await pause(50 + Math.random() * 200)
  holders.kill('SIGCONT')
}

async function measure(args) {
  const quick = args.includes('--quick')
  const broken = args.includes('--break') ? args[args.indexOf('--break') + 1] : ''
  const numbers = args.filter((arg) => /^\d+$/.test(arg)).map(Number)
  const [acquisitions = quick ? 600 : 50_000, processes = quick ? 2 : 4, callers = 8] = numbers
  const witness = await startServer()
  const masters = await startMasters(MASTERS)
  const urls = masters.map(({ url }) => url)
  await new Holdfast({
    masters: urls,
    newDeployment: true,
    longestLeaseMs: LONGEST_LEASE_MS,
    leaseMs: LEASE_MS,
  })
    .getLock('first')
    .using(() => {})
  const workers = Array.from({ length: processes }, () =>
    startWorker(import.meta.url, urls.join(','), witness.url, callers),
  )
  await Promise.all(workers.map((worker) => worker.call('ready')))
  const start = now()
  const runs = workers.map((worker) => worker.call('run'))
  let acquired = 0
  const isEnough = async () => {
    const counts = await Promise.all(workers.map((worker) => worker.call('acquired')))
    acquired = counts.reduce((sum, count) => sum + count, 0)
    return acquired >= acquisitions
  }
  const done = await storm(masters, workers, broken, isEnough)
  await Promise.all(workers.map((worker) => worker.call('stop')))
  const tallies = await Promise.all(runs)
  const seconds = (now() - start) / 1_000
  await Promise.all(workers.map((worker) => worker.call('close')))

  const seen = await judge(witness.admin)
  const sum = (what) => tallies.reduce((total, tally) => total + tally[what], 0)
  const all = (what) => tallies.flatMap((tally) => tally[what])
  const stalls = seen.enteredAt.map((at, i) => at - (seen.enteredAt[i - 1] ?? at))
  console.log(
    `${processes} processes × ${callers} callers, ${MASTERS} masters, ${seconds.toFixed(0)} s; ` +
      `wait ${spread(all('waits'))}`,
  )
  console.log(
    `masters killed ${done.killed}, stopped ${done.stopped}, shut down ${done['shut down']}, ` +
      `three at once ${done['majorities killed']} times; longest time without a new holder: ${(stalls.reduce((a, b) => Math.max(a, b), 0)).toFixed(0)} ms`,
  )
  table(
    [
      'attempts',
      'acquired',
      'timed out',
      'unavailable',
      'lost before use',
      'lost in use',
      'late writes',
      'refused late writes',
    ],
    [
      [
        sum('attempts'),
        sum('acquired'),
        sum('refused'),
        sum('unavailable'),
        sum('lostUnused'),
        sum('lostInside'),
        sum('lateWrites'),
        sum('lateRefused'),
      ],
    ],
  )
  table(
    ['acquisitions', 'overlaps', 'token regressions', 'refused while valid'],
    [[seen.holders, seen.overlaps, seen.regressions, all('violations').length]],
  )
  for (const example of [...seen.examples, ...all('violations')].slice(0, 10)) console.log(example)
  for (const error of all('errors').slice(0, 10)) console.log(error)
  // If the judge missed actions of the holders, its result proves nothing.
  const blind = seen.holders < sum('acquired') - sum('lostUnused')
  if (blind) console.log('the witness did not see all holders')
  const bad = seen.overlaps + seen.regressions + all('violations').length + all('errors').length
  process.exitCode = bad > 0 || blind ? 1 : 0
  for (const worker of workers) worker.kill()
  await Promise.all(masters.map((master) => master.stop()))
  await witness.stop()
}
