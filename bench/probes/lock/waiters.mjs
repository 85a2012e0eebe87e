// Measures the cost of many callers of one client that wait for one lock. It measures the heap for each caller, the
// time of each grant, and the block of the event loop when one signal aborts all calls.
// Run `npm run build`, then `node --expose-gc bench/probes/lock/waiters.mjs [waiters …]`.
import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../../dist/esm/src/index.js'
import { startServer, table } from '../../support/support.mjs'

const sizes = process.argv.slice(2).map(Number)
const server = await startServer()
const rows = []
for (const waiters of sizes.length > 0 ? sizes : [1_000, 4_000, 8_000, 16_000]) {
  rows.push([waiters, ...(await measure(waiters))])
}
table(
  ['waiters', 'heap each', 'ms per grant', 'µs per call in a frame', 'abort ms', 'close ms'],
  rows,
)
await server.stop()

async function measure(waiters) {
  const client = new Holdfast({ redis: server.url })
  const lock = client.getLock('it')
  await (await lock.lock()).release()
  const held = await lock.lock()
  const ask = (options) => Array.from({ length: waiters }, () => lock.lock(options))

  globalThis.gc?.()
  const before = process.memoryUsage().heapUsed
  const waiting = ask({})
  await pause(50)
  globalThis.gc?.()
  const bytes = (process.memoryUsage().heapUsed - before) / waiters

  const inFrame = await client.run(async () => {
    const start = performance.now()
    // Simultaneous calls of one frame are not re-entries. Each call checks this.
    const some = Array.from({ length: 100 }, () => lock.lock().then((lease) => lease.release()))
    const tookMs = performance.now() - start
    void Promise.all(some)
    return (tookMs * 1_000) / 100
  })

  const start = performance.now()
  const served = waiting.map(async (one) => (await one).release())
  await held.release()
  await Promise.all(served)
  const grantMs = (performance.now() - start) / waiters

  const again = await lock.lock()
  const abort = new AbortController()
  const ended = ask({ signal: abort.signal }).map((one) => one.catch(() => {}))
  await pause(50)
  const abortMs = await blocked(() => abort.abort(), ended)

  const closed = ask({}).map((one) => one.catch(() => {}))
  await pause(50)
  void again
  const closeMs = await blocked(() => client.close(), closed)
  return [
    globalThis.gc ? `${bytes.toFixed(0)} B` : '-',
    grantMs.toFixed(4),
    inFrame.toFixed(1),
    abortMs.toFixed(1),
    closeMs.toFixed(1),
  ]
}

/** The longest time without any other code in the event loop, until all work is done. */
async function blocked(act, work) {
  let longest = 0
  let last = performance.now()
  const look = () => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
  }
  const looks = setInterval(look, 1)
  await pause(5)
  const acted = act()
  await Promise.all(work)
  await acted
  await pause(5)
  look()
  clearInterval(looks)
  return longest
}
