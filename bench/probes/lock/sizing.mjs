// Measures the cost of one lock and of one client for a server. The server counts, so the numbers do not depend on
// the load of the machine. Run `npm run build`, then `node bench/probes/lock/sizing.mjs [locks]`.
import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../../dist/esm/src/index.js'
import {
  callsOf,
  freePort,
  quantile,
  startProcess,
  startServer,
  table,
  until,
} from '../../support/support.mjs'

const [locks = 1_000] = process.argv.slice(2).map(Number)
const ROUNDS = 5
const server = await startServer()
const { admin } = server

const nameOf = (i) => `order:${String(i).padStart(8, '0')}`
const SCRIPTS = ['evalsha', 'eval']
const NOT_LOCKS = [
  'info',
  'config|resetstat',
  'client|list',
  'client|setname',
  'client|setinfo',
  'ping',
]

/** The scripts, all commands, messages and bytes on the wire since the last reset. */
async function counts() {
  const calls = await callsOf(admin)
  const stats = await admin.info('stats')
  const of = (name) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(stats)?.[1] ?? 0)
  const all = Object.entries(calls).filter(([name]) => !NOT_LOCKS.includes(name))
  const scripts = SCRIPTS.reduce((sum, name) => sum + (calls[name] ?? 0), 0)
  return {
    scripts,
    commands: all.reduce((sum, [, count]) => sum + count, 0) - scripts,
    messages: (calls.publish ?? 0) + (calls.spublish ?? 0),
    bytes: of('total_net_input_bytes') + of('total_net_output_bytes'),
  }
}

/** @returns the cost of one acquisition with its release, when no other client wants the lock */
async function costOf(client, acquireAndRelease) {
  await acquireAndRelease(client, 'warm')
  await pause(50)
  const rounds = []
  for (let round = 0; round < ROUNDS; round += 1) {
    await admin.config('RESETSTAT')
    const before = await counts()
    for (let i = 0; i < locks; i += 1) await acquireAndRelease(client, nameOf(i))
    const after = await counts()
    rounds.push(
      Object.fromEntries(
        Object.keys(after).map((key) => [key, (after[key] - before[key]) / locks]),
      ),
    )
  }
  return (key) =>
    quantile(
      rounds.map((round) => round[key]),
      0.5,
    )
}

const kinds = {
  getLock: (client, name) => client.getLock(name).using(() => {}),
  getFairLock: (client, name) => client.getFairLock(name).using(() => {}),
  'readLock()': (client, name) =>
    client
      .getReadWriteLock(name)
      .readLock()
      .using(() => {}),
  'writeLock()': (client, name) =>
    client
      .getReadWriteLock(name)
      .writeLock()
      .using(() => {}),
  getPermitExpirableSemaphore: (client, name) =>
    client.getPermitExpirableSemaphore(name, { permits: 3 }).using(() => {}),
  getSemaphore: async (client, name) => {
    const semaphore = client.getSemaphore(name)
    await semaphore.using(() => {})
  },
  'getMultiLock of 3': (client, name) =>
    client.getMultiLock(...[1, 2, 3].map((i) => client.getLock(`${name}:${i}`))).using(() => {}),
}

console.log('\nOne acquisition and its release, no other client wants it')
const rows = []
for (const [kind, work] of Object.entries(kinds)) {
  await admin.flushall()
  const client = new Holdfast({ redis: server.url })
  if (kind === 'getSemaphore') {
    for (const name of ['warm', ...Array.from({ length: locks }, (_, i) => nameOf(i))]) {
      await client.getSemaphore(name).trySetPermits(3)
    }
  }
  const cost = await costOf(client, work)
  rows.push([
    kind,
    ...['scripts', 'commands', 'messages'].map((key) => cost(key).toFixed(1)),
    Math.round(cost('bytes')),
  ])
  await client.close()
}
const masters = await Promise.all([0, 1, 2].map(async () => startProcess(await freePort())))
{
  const client = new Holdfast({ masters: masters.map(({ url }) => url), newDeployment: true })
  const scriptsOf = async () =>
    (await Promise.all(masters.map(({ admin: one }) => callsOf(one)))).map(
      ({ evalsha = 0, eval: sources = 0 }) => evalsha + sources,
    )
  await client.getLock('warm').using(() => {})
  await pause(50)
  const before = await scriptsOf()
  for (let i = 0; i < locks; i += 1) await client.getLock(nameOf(i)).using(() => {})
  const after = await scriptsOf()
  rows.push(['getLock, 3 masters: each', ((after[0] - before[0]) / locks).toFixed(1), '', '', ''])
  await client.close()
}
table(['kind', 'scripts', 'commands in them', 'messages', 'bytes on the wire'], rows)

console.log('\nBytes of the server by MEMORY USAGE, for a name of 14 bytes')
const sizes = []
const size = async (what, keys) => {
  const each = await Promise.all(keys.map((key) => admin.memory('USAGE', key, 'SAMPLES', 0)))
  sizes.push([what, keys.length, each.reduce((sum, one) => sum + Number(one ?? 0), 0)])
}
const keysNow = async () =>
  (await admin.keys('*')).filter((key) => !key.startsWith('holdfast_client'))
const held = {
  'lock, held': (client) => client.getLock(nameOf(1)).lock(),
  'read lock, held by 1 reader': (client) => client.getReadWriteLock(nameOf(1)).readLock().lock(),
  'write lock, held': (client) => client.getReadWriteLock(nameOf(1)).writeLock().lock(),
  'semaphore, 1 permit taken': (client) =>
    client.getPermitExpirableSemaphore(nameOf(1), { permits: 100 }).acquire(),
  'semaphore, 100 permits taken one by one': (client) =>
    Promise.all(
      Array.from({ length: 100 }, () =>
        client.getPermitExpirableSemaphore(nameOf(1), { permits: 100 }).acquire(),
      ),
    ),
  'latch, count set': (client) => client.getCountDownLatch(nameOf(1)).trySetCount(3),
}
for (const [what, hold] of Object.entries(held)) {
  await admin.flushall()
  const client = new Holdfast({ redis: server.url })
  await hold(client)
  await pause(50)
  await size(what, await keysNow())
  if (what === 'lock, held') {
    await size('  its counter alone, which stays for an hour', [
      `redisson_lock_token:{${nameOf(1)}}`,
    ])
  }
  await client.close()
}
for (const waiters of [1, 100]) {
  await admin.flushall()
  const clients = [new Holdfast({ redis: server.url }), new Holdfast({ redis: server.url })]
  const [holder, waiter] = clients
  await holder.getFairLock(nameOf(1)).lock()
  for (let i = 0; i < waiters; i += 1)
    waiter
      .getFairLock(nameOf(1))
      .lock()
      .catch(() => {})
  await until(
    async () => (await holder.getFairLock(nameOf(1)).inspect()).queueLength === waiters,
    'a queue',
  )
  await size(`fair lock, held, ${waiters} waiting in one client`, await keysNow())
  await Promise.all(clients.map((client) => client.close()))
}
{
  await admin.flushall()
  const client = new Holdfast({ redis: server.url })
  await client.getLock(nameOf(1)).lock()
  await until(
    async () => (await admin.keys('holdfast_client*')).length > 0,
    'a key of the client',
    60_000,
  )
  await size('a client: the key that names it', await admin.keys('holdfast_client*'))
  await client.close()
}
table(['what', 'keys', 'bytes'], sizes)

console.log('\nConnections of one client')
const open = []
const connections = async (to = admin) => {
  const list = await to.client('LIST')
  return list.trim().split('\n').length
}
async function connectionsOf(what, options, work) {
  const other = new Holdfast({ redis: server.url })
  await Promise.all(['b', 'c'].map((name) => other.getLock(name).lock()))
  await pause(50)
  const before = await connections()
  const client = new Holdfast({ redis: server.url, ...options })
  await work(client)
  await pause(300)
  open.push([what, (await connections()) - before])
  await Promise.all([client.close(), other.close()])
}
await connectionsOf('made, not used', {}, () => {})
await connectionsOf('holds a lock', {}, (client) => client.getLock('a').lock())
await connectionsOf('holds 1,000 locks', {}, (client) =>
  Promise.all(Array.from({ length: 1_000 }, (_, i) => client.getLock(nameOf(i)).lock())),
)
await connectionsOf('waits for a lock that another client holds', {}, (client) => {
  client
    .getLock('b')
    .lock()
    .catch(() => {})
})
await connectionsOf('waits for a fair lock', {}, (client) => {
  client
    .getFairLock('c')
    .lock()
    .catch(() => {})
})
await connectionsOf('with watchdogThread', { watchdogThread: true }, async (client) => {
  await client.getLock('d').lock()
  await pause(1_000)
})
{
  const [master] = masters
  const other = new Holdfast({ masters: masters.map(({ url }) => url) })
  await other.getLock('e').lock()
  await pause(300)
  const before = await connections(master.admin)
  const client = new Holdfast({ masters: masters.map(({ url }) => url) })
  client
    .getLock('e')
    .lock()
    .catch(() => {})
  await pause(300)
  open.push(['with 3 masters, waits: to each', (await connections(master.admin)) - before])
  await Promise.all([client.close(), other.close()])
}
table(['a client that', 'connections'], open)

await Promise.all([server, ...masters].map((one) => one.stop()))
