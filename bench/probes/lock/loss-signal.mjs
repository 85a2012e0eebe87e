// Measures how long before the end of the key the holder learns of the loss, in a network that drops everything. The
// number is the time from `lease.signal` to the end of the key, for renewed and fixed leases of several lengths. A
// negative time would be a violation: two holders at once.
// Run `npm run build`, then `node bench/probes/lock/loss-signal.mjs [holds]`.
import { connect, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../../dist/esm/src/index.js'
import { quantile, startServer } from '../../support/support.mjs'

const [holds = 200] = process.argv.slice(2).map(Number)
const LEASES_MS = [300, 500, 700, 1_000]
const BATCH = 20

const server = await startServer()
const batches = Array.from({ length: Math.ceil(holds / BATCH) }, (_, i) => ({
  leaseMs: LEASES_MS[i % LEASES_MS.length],
  watched: i % 2 === 0,
  count: Math.min(BATCH, holds - i * BATCH),
}))
const leads = (await Promise.all(batches.map(measure))).flat()
leads.sort((a, b) => a - b)
const violations = leads.filter((lead) => !(lead > 0)).length
const ms = (value) => `${value.toFixed(1)} ms`
console.log(
  `${leads.length} holds without a network, leases of ${LEASES_MS.join(', ')} ms, half of them renewed`,
)
console.log(
  `lease.signal before the end of the key: min ${ms(leads[0])}, p50 ${ms(quantile(leads, 0.5))}, ` +
    `p99 ${ms(quantile(leads, 0.99))}, max ${ms(leads.at(-1))}`,
)
console.log(`violations: ${violations}`)
process.exitCode = violations === 0 && leads.length === holds ? 0 : 1
await server.stop()

/** One client acquires locks, loses its network at a random moment, and waits for its signals. */
async function measure({ leaseMs, watched, count }, batch) {
  const hole = await openHole(server.port)
  const client = new Holdfast({
    redis: { host: '127.0.0.1', port: hole.port },
    leaseMs: watched ? leaseMs : 30_000,
  })
  const options = watched ? {} : { leaseMs }
  const names = Array.from({ length: count }, (_, i) => `loss ${batch} ${i}`)
  const leases = await Promise.all(names.map((name) => client.getLock(name).lock(options)))
  const signals = leases.map(
    ({ signal }) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve(Date.now()), { once: true })
      }),
  )
  // Renewed leases are renewed a few times first. Fixed leases have no time for this.
  await pause(Math.random() * (watched ? 2 * leaseMs : leaseMs / 4))
  hole.swallow()
  // By then, all earlier requests have arrived, so nothing changes the end of a key any longer.
  await pause(20)
  const ends = await Promise.all(names.map(endOf))
  const aborted = await Promise.all(signals)
  await Promise.all([client.close(), hole.close()])
  return ends.map((end, i) => end - aborted[i])
}

/** The time at which the key ends, on the clock that the server shares with this process. */
async function endOf(name) {
  const [[, [seconds, micros]], [, leftMs]] = await server.admin.multi().time().pttl(name).exec()
  return Number(seconds) * 1_000 + Number(micros) / 1_000 + Number(leftMs)
}

/** A proxy that can drop all data in both directions, while its connections stay open. */
async function openHole(target) {
  const sockets = new Set()
  let swallows = false
  const listener = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ]) {
      sockets.add(from)
      from.setNoDelay(true)
      from.on('error', () => {})
      from.on('data', (chunk) => {
        if (!swallows) to.write(chunk)
      })
      from.on('close', () => {
        if (!swallows) to.destroy()
      })
    }
  })
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve))
  return {
    port: listener.address().port,
    swallow: () => {
      swallows = true
    },
    close: () => {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => listener.close(resolve))
    },
  }
}
