// Checks that a multi-lock acquires all of its locks or none, and that no caller waits forever. Several processes
// want the same names in opposite or random orders, and some calls want a single name. The locks are on one server,
// and on two. The holders write a journal in Redis for each name, and the program judges this journal.
// Run `npm run build`, then `node bench/probes/multi/all-or-none.mjs [rounds] [processes] [tasks]`. `--quick` makes a
// short run. The program exits with code 1 if it finds an error.
// `node bench/probes/multi/all-or-none.mjs waits [seconds] [rounds]` measures how long callers of several locks wait
// beside other callers, and how often the other callers get their locks. `--against <folder>` measures another built
// checkout in turn. `--only <words>` runs one scenario.
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { Holdfast } from '../../../dist/esm/src/index.js'
import { entryOf } from '../../../scripts/lib/entry-of.mjs'
import {
  callsOf,
  now,
  serve,
  spread,
  startServer,
  startWorker,
  table,
} from '../../support/support.mjs'
import { Journal, keysLeft } from '../../support/witness.mjs'

const NAMES = ['anvil', 'bellows', 'chisel', 'drill']
/** The names on the second server, if there are two servers. */
const FAR = new Set(['bellows', 'drill'])
/** A longer round is stuck, in milliseconds. */
const STUCK_MS = 30_000

const ways = {
  'one server, opposite orders': { order: (process) => (process % 2 ? NAMES : reversed(NAMES)) },
  'one server, random orders': { order: () => shuffled(NAMES) },
  'one server, random 2 or 3 of 4, and single locks': {
    order: () => shuffled(NAMES).slice(0, 1 + Math.ceil(Math.random() * 2)),
    singles: 0.2,
  },
  'two servers, opposite orders': {
    order: (process) => (process % 2 ? NAMES : reversed(NAMES)),
    far: FAR,
  },
  'two servers, random orders': { order: () => shuffled(NAMES), far: FAR },
}

if (process.argv[2] === 'worker') work(...process.argv.slice(3))
else if (process.argv[2] === 'waits') await waits(process.argv.slice(3))
else await measure(process.argv.slice(2))

function reversed(names) {
  return [...names].reverse()
}

function shuffled(names) {
  const left = [...names]
  return names.map(() => left.splice(Math.floor(Math.random() * left.length), 1)[0])
}

function work(index, tasks, ...urls) {
  const clients = urls.map((redis) => new Holdfast({ redis }))
  const journal = new Journal(urls[0])
  const lost = []
  for (const client of clients) client.on('lost', ({ error }) => lost.push(error.message))

  /** One acquisition, with an entry in the journal of each name. */
  const round = async ({ order, singles = 0, far }) => {
    const locks = order(Number(index)).map((name) => clients[far?.has(name) ? 1 : 0].getLock(name))
    const [first] = locks
    const wanted = Math.random() < singles ? first : clients[0].getMultiLock(...locks)
    const start = now()
    const lease = await wanted.lock()
    const waitedMs = now() - start
    const leases = lease.leases ?? [lease]
    await Promise.all(leases.map((one) => journal.enter(one)))
    // The journal is complete before the first lock is free.
    await Promise.all(leases.map((one) => journal.leave(one)))
    await lease.release()
    return waitedMs
  }

  serve({
    ready: () => Promise.all(clients.map((client) => client.getLock(NAMES[0]).isLocked())),
    run: async (name, rounds) => {
      const waits = []
      const errors = []
      let left = rounds
      const one = async () => {
        while (left > 0) {
          left -= 1
          waits.push(await round(ways[name]))
        }
      }
      await Promise.all(
        Array.from({ length: Number(tasks) }, () =>
          one().catch((error) => errors.push(`${error}`)),
        ),
      )
      return { waits, errors, lost: lost.splice(0) }
    },
    close: async () => {
      await Promise.all(clients.map((client) => client.close()))
      journal.close()
    },
  })
}

async function measure(args) {
  const quick = args.includes('--quick')
  const numbers = args.filter((arg) => arg !== '--quick').map(Number)
  const [rounds = quick ? 200 : 10_000, processes = quick ? 2 : 4, tasks = 2] = numbers
  const servers = [await startServer(), await startServer()]
  const urls = servers.map(({ url }) => url)
  const journal = new Journal(urls[0])
  const alone = await scriptsAlone(servers)
  table(['4 names, no contention', 'scripts to acquire', 'scripts to release'], alone)
  const workers = Array.from({ length: processes }, (_, i) =>
    startWorker(import.meta.url, i, tasks, ...urls),
  )
  await Promise.all(workers.map((worker) => worker.call('ready')))
  const [first] = Object.keys(ways)
  await Promise.all(workers.map((worker) => worker.call('run', first, quick ? 5 : 300)))
  const each = Math.ceil(rounds / Object.keys(ways).length / processes)
  const rows = []
  let failed = false
  for (const name of Object.keys(ways)) {
    await Promise.all(servers.map(({ admin }) => admin.flushall()))
    await Promise.all(servers.map(({ admin }) => admin.config('RESETSTAT')))
    const start = now()
    const runs = Promise.all(workers.map((worker) => worker.call('run', name, each)))
    const stuck = pause(quick ? 45_000 : 240_000, 'stuck', { ref: false })
    const tallies = await Promise.race([runs, stuck])
    if (tallies === 'stuck') throw new Error(`${name}: stuck`)
    const seconds = (now() - start) / 1_000
    const scripts = await Promise.all(servers.map(({ admin }) => scriptsOf(admin)))
    const left = (await Promise.all(servers.map(({ admin }) => keysLeft(admin)))).flat()
    const waits = tallies.flatMap((tally) => tally.waits)
    const errors = tallies.flatMap((tally) => [...tally.errors, ...tally.lost])
    let [overlaps, regressions] = [0, 0]
    for (const one of NAMES) {
      const seen = await journal.read(one)
      overlaps += seen.overlaps
      regressions += seen.regressions
    }
    const longestMs = Math.max(...waits)
    const found = [overlaps, regressions, left.length, errors.length]
    failed ||= found.some((count) => count > 0) || longestMs > STUCK_MS
    failed ||= waits.length !== each * processes
    for (const one of [...errors, ...left]) console.log(one)
    console.log(`${name}: wait ${spread(waits)}`)
    rows.push([
      name,
      waits.length,
      (waits.length / seconds).toFixed(0),
      ((scripts[0] + scripts[1]) / waits.length).toFixed(1),
      `${longestMs.toFixed(0)} ms`,
      ...found,
    ])
  }
  console.log(`${processes} processes × ${tasks} tasks`)
  table(
    [
      'scenario',
      'rounds',
      'rounds/s',
      'scripts for each round',
      'longest wait',
      'overlaps',
      'token regressions',
      'keys left',
      'errors and lost locks',
    ],
    rows,
  )
  process.exitCode = failed ? 1 : 0
  await Promise.all(workers.map((worker) => worker.call('close')))
  for (const worker of workers) worker.kill()
  journal.close()
  await Promise.all(servers.map((server) => server.stop()))
}

async function waits(args) {
  // A dynamic import, because the workers of this file must not run the code of waits.mjs.
  const { measureWaits } = await import('./waits.mjs')
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { against: { type: 'string' }, only: { type: 'string' }, quick: { type: 'boolean' } },
  })
  const [seconds = values.quick ? 3 : 20, rounds = values.quick ? 1 : 2] = positionals.map(Number)
  const builds = { here: pathToFileURL(entryOf('.')).href }
  if (values.against) builds.there = pathToFileURL(entryOf(values.against)).href
  await measureWaits(builds, seconds, rounds, values.only)
}

/** The scripts of an acquisition and its release, when no other caller wants the locks. */
async function scriptsAlone(servers) {
  const clients = servers.map(({ url }) => new Holdfast({ redis: url }))
  const [near, far] = clients
  const rows = []
  for (const [title, of] of [
    ['one server', () => near],
    ['two servers', (name) => (FAR.has(name) ? far : near)],
  ]) {
    const lock = near.getMultiLock(...NAMES.map((name) => of(name).getLock(name)))
    await (await lock.lock()).release()
    const count = async () => {
      const [one, other] = await Promise.all(servers.map(({ admin }) => scriptsOf(admin)))
      return one + other
    }
    const before = await count()
    const lease = await lock.lock()
    const taken = await count()
    await lease.release()
    rows.push([title, taken - before, (await count()) - taken])
  }
  await Promise.all(clients.map((client) => client.close()))
  return rows
}

async function scriptsOf(admin) {
  const { evalsha = 0, eval: sources = 0 } = await callsOf(admin)
  return evalsha + sources
}
