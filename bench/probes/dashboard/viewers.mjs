// Measures the load of a dashboard on Redis and on its own process, with no viewer, one viewer and five viewers.
// There are 10,000 locks, of which 1,000 are held, and 200 locks change each second. Run `npm run build`, then
// `node bench/probes/dashboard/viewers.mjs [seconds]`.
import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { newDashboard } from '../../../dist/esm/tools/dashboard/dashboard.js'
import { forkSelf, messageOf, startServer } from '../../support/support.mjs'

const LOCKS = 10_000
const HELD = 1_000
const CHANGES = 200
const TTL_MS = 30_000

let turn = 0
let rounds = 0

if (process.argv[2] === 'dashboard') await serve(process.argv[3])
else await measure(Number(process.argv[2] ?? 20))

async function serve(url) {
  const dashboard = newDashboard({ redis: url, authorize: () => 'read' })
  const server = createServer((request, response) => void dashboard.node(request, response))
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
  process.on('message', () =>
    process.send({ cpu: process.cpuUsage(), rss: process.memoryUsage().rss }),
  )
}

async function measure(seconds) {
  const server = await startServer()
  const { admin } = server
  await fill(admin)
  const churn = setInterval(() => void change(admin), 100)
  const child = forkSelf(import.meta.url, 'dashboard', server.url)
  const { port } = await messageOf(child, (message) => message.port && message)
  const own = async () => {
    const answer = messageOf(child, (message) => message.cpu && message)
    child.send('cpu')
    return answer
  }
  for (const viewers of [0, 1, 5]) {
    const gone = new AbortController()
    const counts = { bytes: 0 }
    for (let i = 0; i < viewers; i++) void view(port, gone.signal, counts)
    await pause(viewers === 0 ? 1_000 : 10_000) // The first read of all locks is over.
    counts.bytes = 0
    const before = [await own(), await redisCpu(admin)]
    await pause(seconds * 1_000)
    const after = [await own(), await redisCpu(admin)]
    const used = (b, a) => (a.user + a.system - b.user - b.system) / 1e4 / seconds
    const redis = ((after[1] - before[1]) * 100) / seconds
    console.log(
      `${viewers} viewers: dashboard ${used(before[0].cpu, after[0].cpu).toFixed(1)} % of a core, ` +
        `${Math.round(after[0].rss / 2 ** 20)} MB; Redis ${redis.toFixed(1)} % (the changes included); ` +
        `${viewers === 0 ? 0 : Math.round(counts.bytes / viewers / seconds / 1_000)} kB/s to each viewer`,
    )
    gone.abort()
    await pause(11_000) // The dashboard pauses when it had no viewer for 10 s.
  }
  clearInterval(churn)
  child.disconnect()
  child.kill()
  await server.stop()
}

/** The CPU time of the server from `INFO cpu`, in seconds. */
async function redisCpu(admin) {
  const info = await admin.info('cpu')
  const of = (field) => Number(new RegExp(`^${field}:(.*)`, 'm').exec(info)?.[1])
  return of('used_cpu_user') + of('used_cpu_sys')
}

function nameOf(i) {
  return `shop:order:${i}`
}

function token() {
  return String(Date.now() * 1_000)
}

async function fill(admin) {
  for (let i = 0; i < LOCKS; i += 1_000) {
    const batch = admin.pipeline()
    for (let j = i; j < i + 1_000; j++) {
      batch.set(`redisson_lock_token:{${nameOf(j)}}`, token(), 'PX', 3_600_000)
      if (j < HELD) take(batch, j)
    }
    await batch.exec()
  }
}

function take(batch, i) {
  batch.hset(nameOf(i), `V1StGXR8_Z5jdHi6B-myT:${i}`, '1')
  batch.pexpire(nameOf(i), TTL_MS)
}

/**
 * The changes of a tenth of a second: some locks are released, and as many other locks are acquired. All held locks
 * are renewed in time.
 */
async function change(admin) {
  const batch = admin.pipeline()
  for (let i = 0; i < CHANGES / 20; i++) {
    const gone = turn % LOCKS
    const next = (turn + HELD) % LOCKS
    turn++
    batch.del(nameOf(gone))
    batch.set(`redisson_lock_token:{${nameOf(next)}}`, token(), 'PX', 3_600_000)
    take(batch, next)
  }
  if (++rounds % 100 === 0) {
    for (let i = 0; i < HELD; i++) batch.pexpire(nameOf((turn + i) % LOCKS), TTL_MS)
  }
  await batch.exec()
}

async function view(port, signal, counts) {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/api/stream`, { signal })
    for await (const chunk of response.body) counts.bytes += chunk.length
  } catch {
    // The viewer has ended.
  }
}
