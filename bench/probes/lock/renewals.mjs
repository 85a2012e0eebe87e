// Measures the cost of the renewal of many held locks: scripts per tick on the server, CPU time of the client, and how
// long a renewal blocks the event loop of the client.
// Run `npm run build`, then `node bench/probes/lock/renewals.mjs [locks] [leaseMs]`.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../../dist/esm/src/index.js'
import { callsOf, startServer } from '../../support/support.mjs'

const locks = Number(process.argv[2] ?? 10_000)
const leaseMs = Number(process.argv[3] ?? 9_000)
const ticks = 3

const server = await startServer()
const client = new Holdfast({ redis: server.url, leaseMs })
let lost = 0
client.on('lost', () => {
  lost += 1
})
const before = process.memoryUsage().heapUsed
const leases = []
for (let i = 0; i < locks; i += 500) {
  const some = Array.from({ length: Math.min(500, locks - i) }, (_, j) =>
    client.getLock(`held:${i + j}`).lock(),
  )
  leases.push(...(await Promise.all(some)))
}
const heap = process.memoryUsage().heapUsed - before
await server.admin.config('RESETSTAT')
const loop = monitorEventLoopDelay({ resolution: 1 })
loop.enable()
const cpu = process.cpuUsage()
await pause((leaseMs / 3) * ticks)
const { user, system } = process.cpuUsage(cpu)
const { evalsha = 0 } = await callsOf(server.admin)
const seconds = (leaseMs / 3_000) * ticks
console.log(
  `${locks} held locks, lease ${leaseMs} ms: ${(evalsha / ticks).toFixed(1)} scripts per tick, ` +
    `${(((user + system) / 1e6 / seconds) * 100).toFixed(2)} % of a core, ` +
    `longest block of the event loop ${(loop.max / 1e6).toFixed(0)} ms, ` +
    `${(heap / locks / 1024).toFixed(2)} KiB of heap per held lock, ${lost} lost`,
)
await client.close()
await server.stop()
