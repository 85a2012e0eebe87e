// Measures the cost of the history: bytes in Redis for each entry, and the time of an acquisition with its release in
// µs. Runs with and without the history take turns. Run `npm run build`, then
// `node bench/probes/history/cost.mjs [rounds] [locks per round]`.

import { Holdfast } from '../../../dist/esm/src/index.js'
import { recordHistory } from '../../../dist/esm/tools/history/history.js'
import { quantile, startServer } from '../../support/support.mjs'

const [rounds = 20, locks = 1_000] = process.argv.slice(2).map(Number)
const server = await startServer()
const client = new Holdfast({ redis: server.url, label: 'api-1.example.org:12345' })
const names = Array.from({ length: 100 }, (_, i) => `order:${1_000 + i}`)

async function round() {
  const [startedAt, before] = [performance.now(), process.cpuUsage()]
  for (let i = 0; i < locks; i++) {
    await (await client.getLock(names[i % names.length]).lock()).release()
  }
  const { user, system } = process.cpuUsage(before)
  return { us: ((performance.now() - startedAt) / locks) * 1e3, cpuUs: (user + system) / locks }
}

const off = []
const on = []
await round()
for (let i = 0; i < rounds; i++) {
  off.push(await round())
  const history = recordHistory({ redis: server.url })
  on.push(await round())
  await history.stop()
}
const median = (of, what) =>
  quantile(
    of.map((one) => one[what]),
    0.5,
  )
const entries = await server.admin.xlen('holdfast_history')
const bytes = await server.admin.memory('USAGE', 'holdfast_history', 'SAMPLES', 0)
console.log(`${rounds} rounds of ${locks} locks each, in turns; medians`)
console.log(
  `without: ${median(off, 'us').toFixed(0)} µs, CPU ${median(off, 'cpuUs').toFixed(0)} µs`,
)
console.log(`with:    ${median(on, 'us').toFixed(0)} µs, CPU ${median(on, 'cpuUs').toFixed(0)} µs`)
console.log(`${entries} entries, ${(bytes / entries).toFixed(0)} bytes each`)
await client.close()
await server.stop()
