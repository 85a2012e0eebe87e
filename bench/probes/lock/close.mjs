// Measures how long `close()` of a client with many held locks takes.
//
//   npm run build && node bench/probes/lock/close.mjs [locks ...]
import { Holdfast } from '../../../dist/esm/src/index.js'
import { now, startServer, table } from '../../support/support.mjs'

/** Calls that acquire locks at the same time. */
const AT_ONCE = 1_000

const given = process.argv.slice(2).map(Number)
const sizes = given.length > 0 ? given : [10_000, 30_000, 100_000]
const server = await startServer()
const rows = []
for (const size of sizes) {
  const client = new Holdfast({ redis: server.url, leaseMs: 120_000 })
  let errors = 0
  client.on('error', () => {
    errors += 1
  })
  for (let n = 0; n < size; n += AT_ONCE) {
    const some = Math.min(AT_ONCE, size - n)
    await Promise.all(
      Array.from({ length: some }, (_, i) => client.getLock(`close ${n + i}`).lock()),
    )
  }
  const start = now()
  const cpu = process.cpuUsage()
  await client.close()
  const { user, system } = process.cpuUsage(cpu)
  const left = (await server.admin.keys('close *')).length
  rows.push([size, Math.round(now() - start), Math.round((user + system) / 1_000), errors, left])
}
table(['locks', 'close(), ms', 'CPU time, ms', 'errors', 'locks left'], rows)
await server.stop()
