// Measures the time and the size of one scrape while many locks are held. The metrics have no names of locks, or
// names up to the limit, or the name of every lock. The last setting is not recommended.
// Run `npm run build`, then `node bench/probes/metrics/scrape.mjs [locks]`.
import { Registry } from 'prom-client'
import { Holdfast } from '../../../dist/esm/src/index.js'
import { collectMetrics } from '../../../dist/esm/src/observe/metrics/metrics.js'
import { startServer } from '../../support/support.mjs'

const locks = Number(process.argv[2] ?? 10_000)
const scrapes = 15

const server = await startServer()
const ways = {
  'without names': {},
  'each its name, at most 100': { nameOf: (name) => name },
  [`each its name, at most ${locks}`]: { nameOf: (name) => name, mostNames: locks },
}
for (const [way, options] of Object.entries(ways)) {
  const register = new Registry()
  const metrics = collectMetrics({ register, ...options })
  const client = new Holdfast({ redis: server.url })
  for (let i = 0; i < locks; i += 500) {
    const some = Array.from({ length: Math.min(500, locks - i) }, (_, j) =>
      client.getLock(`held:${i + j}`).lock(),
    )
    await Promise.all(some)
  }
  const times = []
  let page = ''
  for (let i = 0; i < scrapes; i++) {
    const start = performance.now()
    page = await register.metrics()
    times.push(performance.now() - start)
  }
  times.sort((a, b) => a - b)
  const series = page.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length
  console.log(
    `${locks} held locks, ${way}: ${times[scrapes >> 1].toFixed(1)} ms a scrape (slowest ` +
      `${times.at(-1).toFixed(1)}), ${(page.length / 1024).toFixed(1)} KiB, ${series} series`,
  )
  await client.close()
  metrics.stop()
}
await server.stop()
