// Measures how long callers of several locks wait beside callers that want one of these locks or other sets. It also
// measures how often the other callers get their locks. `node bench/probes/multi/all-or-none.mjs waits` runs this
// file.
import { setTimeout as pause } from 'node:timers/promises'
import { now, quantile, serve, startServer, startWorker, table } from '../../support/support.mjs'

/**
 * The parts of each scenario. `tasks` tasks acquire the locks together, hold them and release them, again and again,
 * with a pause of `restMs`. Lower case letters are plain locks, upper case letters are fair locks. The letters are in
 * the order in which a client acquires locks of one server.
 */
const scenarios = {
  'fair, a queue of 1.5 s at the second': [
    { title: 'A+B', names: 'AB', tasks: 1, holdMs: 10 },
    { title: 'B', names: 'B', tasks: 15, holdMs: 100 },
  ],
  'fair, a queue of 1.5 s at each': [
    { title: 'A+B', names: 'AB', tasks: 1, holdMs: 10 },
    { title: 'A', names: 'A', tasks: 15, holdMs: 100 },
    { title: 'B', names: 'B', tasks: 15, holdMs: 100 },
  ],
  'fair, three sets that overlap': [
    { title: 'A+B', names: 'AB', tasks: 12, holdMs: 100 },
    { title: 'B+C', names: 'BC', tasks: 12, holdMs: 100 },
    { title: 'A+C', names: 'AC', tasks: 12, holdMs: 100 },
  ],
  'plain, three sets that overlap': [
    { title: 'b+c', names: 'bc', tasks: 4, holdMs: 10 },
    { title: 'c+d', names: 'cd', tasks: 4, holdMs: 10 },
    { title: 'b+d', names: 'bd', tasks: 4, holdMs: 10 },
  ],
  'plain, the second held for 3 s at a time': [
    { title: 'b+c', names: 'bc', tasks: 1, holdMs: 10 },
    { title: 'b', names: 'b', tasks: 4, holdMs: 1 },
    { title: 'c', names: 'c', tasks: 1, holdMs: 3_000, restMs: 20 },
  ],
  'plain on two servers, the second held for 3 s at a time': [
    { title: 'b+c', names: 'bc', tasks: 1, holdMs: 10, far: true },
    { title: 'b', names: 'b', tasks: 4, holdMs: 1, far: true },
    { title: 'c', names: 'c', tasks: 1, holdMs: 3_000, restMs: 20, far: true },
  ],
  'plain, each wanted by others as well': [
    { title: 'b+c+d', names: 'bcd', tasks: 1, holdMs: 5 },
    ...['b', 'c', 'd'].map((name) => ({ title: name, names: name, tasks: 2, holdMs: 5 })),
  ],
}

if (process.argv[2] === 'worker') await work(...process.argv.slice(3))

/** A process for one part of a scenario, with the given build. */
async function work(build, ...urls) {
  const { Holdfast } = await import(build)
  const clients = urls.map((redis) => new Holdfast({ redis }))

  const lockOf = (name, far) => {
    const client = clients[far && name === 'c' ? 1 : 0]
    return name < 'a' ? client.getFairLock(name) : client.getLock(name)
  }

  serve({
    ready: () => Promise.all(clients.map((client) => client.getLock('warm').using(() => {}))),
    run: async ({ names, tasks, holdMs, restMs = 0, far }, seconds) => {
      const locks = [...names].map((name) => lockOf(name, far))
      const wanted = locks.length > 1 ? clients[0].getMultiLock(...locks) : locks[0]
      const waits = []
      const end = now() + seconds * 1_000
      const one = async () => {
        while (now() < end) {
          const start = now()
          const lease = await wanted.tryLock(Math.ceil(end - start) + 1)
          waits.push({ ms: now() - start, served: lease !== null && now() <= end })
          if (lease === null) continue
          await pause(holdMs)
          await lease.release()
          if (restMs > 0) await pause(restMs)
        }
      }
      await Promise.all(Array.from({ length: tasks }, one))
      return waits
    },
    close: () => Promise.all(clients.map((client) => client.close())),
  })
}

/**
 * @param builds the entry point of each build by its name; the builds take turns
 * @param rounds the number of turns of each build
 */
export async function measureWaits(builds, seconds, rounds, only = '') {
  const servers = await inOrderOfTheirLocks()
  const urls = servers.map(({ url }) => url)
  for (const [title, parts] of Object.entries(scenarios)) {
    if (!title.includes(only)) continue
    const rows = []
    for (let round = 1; round <= rounds; round++) {
      for (const [name, build] of Object.entries(builds)) {
        await Promise.all(servers.map(({ admin }) => admin.flushall()))
        const workers = parts.map(() => startWorker(import.meta.url, build, ...urls))
        await Promise.all(workers.map((worker) => worker.call('ready')))
        const runs = await Promise.all(
          workers.map((worker, i) => worker.call('run', parts[i], seconds)),
        )
        await Promise.all(workers.map((worker) => worker.call('close')))
        for (const worker of workers) worker.kill()
        for (const [i, waits] of runs.entries()) {
          const served = waits.filter((wait) => wait.served).length
          const ms = waits.map((wait) => wait.ms)
          rows.push([
            `${name} ${round}: ${parts[i].title}`,
            parts[i].tasks,
            served,
            (served / seconds).toFixed(1),
            `${quantile(ms, 0.5).toFixed(0)} ms`,
            `${Math.max(...ms).toFixed(0)} ms`,
          ])
        }
      }
    }
    console.log(`\n${title} (${seconds} s each)`)
    table(['locks', 'tasks', 'acquisitions', 'acquisitions/s', 'median wait', 'longest wait'], rows)
  }
  await Promise.all(servers.map((server) => server.stop()))
}

/** Two servers. A caller of locks on both servers acquires the locks of the first server first. */
async function inOrderOfTheirLocks() {
  const both = await Promise.all(
    [await startServer(), await startServer()].map(async (server) => {
      const id = /run_id:(\w+)/.exec(await server.admin.info('server'))[1]
      return { id, server }
    }),
  )
  return both.sort((one, other) => (one.id < other.id ? -1 : 1)).map(({ server }) => server)
}
