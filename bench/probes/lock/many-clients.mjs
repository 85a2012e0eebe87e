// Measures a lock for which many clients wait, each with connections of its own: requests of the server for each
// release, the time of a hand-over, and the memory of the server for each waiting client.
// Run `npm run build`, then `node bench/probes/lock/many-clients.mjs [clients] [hand-overs] [getLock|getFairLock]`. Each
// client has two connections, so the limit of open files must be higher than twice the number of clients.
import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../../dist/esm/src/index.js'
import {
  callsOf,
  forkSelf,
  messageOf,
  now,
  quantile,
  startServer,
  until,
} from '../../support/support.mjs'

const PROCESSES = 4

if (process.argv[2] === 'worker') await work(...process.argv.slice(3))
else
  await measure(Number(process.argv[2] ?? 10_000), Number(process.argv[3] ?? 200), process.argv[4])

async function work(url, count, method) {
  const clients = []
  const abort = new AbortController()
  // 50 clients at a time, so that their connections fit into the backlog of the server.
  for (let i = 0; i < Number(count); i += 50) {
    const some = Array.from({ length: Math.min(50, Number(count) - i) }, () => {
      return new Holdfast({ redis: url })
    })
    clients.push(...some)
    await Promise.all(some.map((client) => client[method]('many clients').isLocked()))
  }
  const waiting = clients.map((client) => new Promise((resolve) => client.once('wait', resolve)))
  const waits = clients.map(async (client) => {
    try {
      const lease = await client[method]('many clients').lock({ signal: abort.signal })
      const at = now()
      process.send({ grantedAt: at })
      await lease.release()
    } catch {}
  })
  await Promise.all(waiting)
  process.send({ ready: true })
  process.once('message', async () => {
    abort.abort()
    await Promise.all(waits)
    process.send({ ended: true }, () => process.exit())
  })
}

async function measure(clients, handOvers, method = 'getLock') {
  const server = await startServer()
  await server.admin.config('SET', 'maxclients', String(clients * 2 + 1_000))
  const holder = new Holdfast({ redis: server.url })
  const lease = await holder[method]('many clients').lock()
  const bytes = await memoryOf(server.admin)
  const grants = []
  const children = Array.from({ length: PROCESSES }, () => {
    const child = forkSelf(import.meta.url, 'worker', server.url, clients / PROCESSES, method)
    child.on('message', ({ grantedAt }) => grantedAt && grants.push(grantedAt))
    return child
  })
  await Promise.all(children.map((child) => messageOf(child, ({ ready }) => ready)))
  await pause(2_000)
  const perClient = ((await memoryOf(server.admin)) - bytes) / clients / 1_024
  await server.admin.config('RESETSTAT')
  const releasedAt = now()
  await lease.release()
  await until(() => grants.length >= handOvers, 'the hand-overs', 300_000)
  const calls = await callsOf(server.admin)
  const taken = grants.slice(0, handOvers).sort((a, b) => a - b)
  const gaps = taken.map((at, i) => at - (i === 0 ? releasedAt : taken[i - 1]))
  console.log(
    `${method}, ${clients} clients wait for one lock: ${(calls.evalsha / grants.length).toFixed(1)} scripts for each hand-over, ` +
      `hand-over p50 ${quantile(gaps, 0.5).toFixed(1)} ms, p99 ${quantile(gaps, 0.99).toFixed(1)} ms, ` +
      `${perClient.toFixed(1)} KiB of memory of the server for each client`,
  )
  const ended = children.map((child) => messageOf(child, (message) => message.ended))
  for (const child of children) child.send('end')
  await Promise.all(ended)
  await holder.close()
  await server.stop()
}

async function memoryOf(admin) {
  return Number(/used_memory:(\d+)/.exec(await admin.info('memory'))[1])
}
