// Compares two builds of this library in one process, on the same servers. The builds take turns, so
// that a change of the machine's load affects both.
// `npm run build` in both checkouts, then `node bench/probes/lock/two-builds.mjs <other checkout>`.
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startMasters } from '../../support/masters.mjs'
import { aboutTheMachine, quantile } from '../../support/support.mjs'

const args = process.argv.slice(2).filter((arg) => arg !== '--quick')
const isQuick = process.argv.includes('--quick')
const [before, only = ''] = args
if (before === undefined)
  throw new Error('Name the folder of the other checkout, which has been built.')

const [warmUpMs, turnMs, turns] = isQuick ? [50, 20, 2] : [1_500, 120, 50]
const here = new URL('../../..', import.meta.url)
const builds = [pathToFileURL(`${resolve(before)}/`), here]
const modules = await Promise.all(
  builds.map((build) => import(new URL('dist/esm/src/index.js', build))),
)

console.log(aboutTheMachine())
const servers = await startMasters(3)
const [{ url }] = servers
const single = modules.map(({ Holdfast }) => new Holdfast({ redis: url }))
const masters = servers.map((server) => server.url)
const quorum = modules.map(({ Holdfast }) => new Holdfast({ masters, newDeployment: true }))

const pair = async (lock) => (await lock.lock()).release()
const nested = (lock) =>
  lock.using(async () => {
    for (let i = 0; i < 8; i++) {
      await lock.lock()
      await lock.unlock()
    }
  })

async function permits(client, name) {
  const pool = client.getPermitExpirableSemaphore(name)
  await pool.trySetPermits(4)
  return { lock: () => pool.acquire() }
}

/** Each scenario: its clients, a function that opens the lock, the work, and how many calls run at once. */
const SCENARIOS = {
  lock: [single, (client, name) => client.getLock(name), pair, 1],
  'lock, 64 at once': [single, (client, name) => client.getLock(name), pair, 64],
  nested: [single, (client, name) => client.getLock(name), nested, 1],
  fair: [single, (client, name) => client.getFairLock(name), pair, 1],
  'fair, 64 at once': [single, (client, name) => client.getFairLock(name), pair, 64],
  read: [single, (client, name) => client.getReadWriteLock(name).readLock(), pair, 1],
  write: [single, (client, name) => client.getReadWriteLock(name).writeLock(), pair, 1],
  permit: [single, permits, pair, 1],
  quorum: [quorum, (client, name) => client.getLock(name), pair, 1],
  'quorum, 64 at once': [quorum, (client, name) => client.getLock(name), pair, 64],
}

/** Returns the CPU time and the wall time of one call, in µs. */
async function turn(lock, work, atOnce, ms) {
  const usage = process.cpuUsage()
  const startedAt = performance.now()
  let calls = 0
  const repeat = async () => {
    for (; performance.now() - startedAt < ms; calls++) await work(lock)
  }
  await Promise.all(Array.from({ length: atOnce }, repeat))
  const { user, system } = process.cpuUsage(usage)
  return { cpu: (user + system) / calls, wall: ((performance.now() - startedAt) * 1_000) / calls }
}

const median = (values) => quantile(values, 0.5)

for (const [name, [clients, open, work, atOnce]] of Object.entries(SCENARIOS)) {
  if (!name.startsWith(only)) continue
  const locks = await Promise.all(clients.map((client, i) => open(client, `${name} ${i}`)))
  for (const lock of locks) await turn(lock, work, atOnce, warmUpMs)
  const ratios = { cpu: [], wall: [] }
  const took = [[], []]
  for (let n = 0; n < turns; n++) {
    const order = n % 2 === 0 ? [0, 1] : [1, 0]
    const of = []
    for (const i of order) of[i] = await turn(locks[i], work, atOnce, turnMs)
    for (const kind of ['cpu', 'wall']) ratios[kind].push(of[1][kind] / of[0][kind])
    for (const i of order) took[i].push(of[i].wall)
  }
  const [was, is] = took.map((times) => median(times).toFixed(0))
  console.log(
    `${name}: ${was} µs before, ${is} µs now; ratio of time ${median(ratios.wall).toFixed(3)}, ` +
      `of CPU ${median(ratios.cpu).toFixed(3)}`,
  )
}

await Promise.all([...single, ...quorum].map((client) => client.close()))
await Promise.all(servers.map((server) => server.stop()))
