// Measures the cost of metrics for a lock and its release, with and without the names of locks. The program compares
// with a client without metrics, and with a subscriber that does nothing. The blocks take turns, so that other load
// of the machine affects all of them.
// Run `npm run build`, then `node bench/probes/metrics/acquire.mjs [blocks]`.
import { Registry } from 'prom-client'
import { Holdfast } from '../../../.cache/modules/src/index.js'
import { subscribe } from '../../../.cache/modules/src/observe/facts/subscribe.js'
import { collectMetrics } from '../../../.cache/modules/src/observe/metrics/metrics.js'
import { startServer } from '../../support/support.mjs'

const blocks = Number(process.argv[2] ?? 60)
const pairs = 200

const server = await startServer()
const client = new Holdfast({ redis: server.url })
const lock = client.getLock('it')
const ways = {
  'no metrics': () => () => {},
  'a subscriber that does nothing': () => {
    const nothing = { start() {}, finish() {} }
    return subscribe({ acquire: nothing, hold: nothing, renew: nothing })
  },
  metrics: () => collect({}),
  'metrics with names': () => collect({ nameOf: () => 'it' }),
}

function collect(options) {
  const metrics = collectMetrics({ register: new Registry(), ...options })
  return () => metrics.stop()
}

/** The CPU time of this process for one lock and its release, in µs. */
async function block(start) {
  const stop = start()
  await (await lock.lock()).release()
  const cpu = process.cpuUsage()
  for (let i = 0; i < pairs; i++) await (await lock.lock()).release()
  const { user, system } = process.cpuUsage(cpu)
  stop()
  return (user + system) / pairs
}

const measured = new Map(Object.keys(ways).map((way) => [way, []]))
for (let i = 0; i < blocks + 5; i++) {
  for (const [way, start] of Object.entries(ways)) {
    const us = await block(start)
    if (i >= 5) measured.get(way).push(us)
  }
}
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1]
for (const [way, values] of measured) {
  console.log(`${way}: ${median(values).toFixed(1)} µs of CPU for a lock and its release`)
}
await client.close()
await server.stop()
