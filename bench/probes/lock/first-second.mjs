// Measures the first second of a process: its first lock, and the times of all pairs of lock and unlock. The floor is
// SET NX PX with a compare-and-delete script. Both take turns, each in a new process.
// Run `npm run build`, then `node bench/probes/lock/first-second.mjs [rounds] [folder of another build ...]`.
import { once } from 'node:events'
import { resolve } from 'node:path'
import { forkSelf, messageOf, quantile, startServer, table } from '../../support/support.mjs'

const FLOOR = 'floor'
const WARM_MS = 1_000

if (process.send === undefined) await measure()
else await work(...process.argv.slice(2))

async function measure() {
  const [rounds = 10, ...folders] = process.argv.slice(2)
  const here = resolve(import.meta.dirname, '../../..')
  const builds = [...folders.map((folder) => resolve(folder)), here]
  const server = await startServer()
  const all = new Map([FLOOR, ...builds].map((name) => [name, []]))
  for (let round = 0; round < Number(rounds); round += 1) {
    for (const [name, results] of all) {
      const child = forkSelf(import.meta.url, server.url, name)
      const ended = once(child, 'exit')
      results.push(await messageOf(child))
      await ended
    }
  }
  const middle = (results, key) =>
    quantile(
      results.map((one) => one[key]),
      0.5,
    ).toFixed(2)
  const columns = ['openMs', 'firstMs', 'p50', 'p99', 'longest', 'pairs']
  console.log(`medians of ${rounds} processes, in milliseconds`)
  const rows = [...all].map(([name, results]) => [
    name,
    ...columns.map((key) => middle(results, key)),
  ])
  table(['build', 'import and connect', 'first pair', 'p50', 'p99', 'longest', 'pairs'], rows)
  await server.stop()
}

async function work(url, name) {
  const start = performance.now()
  const { acquire, close } = name === FLOOR ? await openFloor(url) : await openBuild(url, name)
  const openMs = performance.now() - start
  const times = []
  const until = performance.now() + WARM_MS
  for (let i = 0; performance.now() < until; i += 1) {
    const from = performance.now()
    const release = await acquire(`first:${i % 100}`)
    await release()
    times.push(performance.now() - from)
  }
  const [firstMs, ...others] = times
  process.send({
    ...{ openMs, firstMs, pairs: times.length, longest: Math.max(...others) },
    ...{ p50: quantile(times, 0.5), p99: quantile(times, 0.99) },
  })
  await close()
  process.disconnect()
}

async function openFloor(url) {
  const { open } = await import('../../compare/libraries/floor-set.mjs')
  return open(url)
}

async function openBuild(url, folder) {
  const { entryOf } = await import('../../../scripts/lib/entry-of.mjs')
  const { Holdfast } = await import(entryOf(folder))
  const client = new Holdfast({ redis: url })
  // The connection is a part of the start, as it is for the floor.
  await client.getLock('connect').isLocked()
  return {
    acquire: async (name) => {
      const lease = await client.getLock(name).lock()
      return () => lease.release()
    },
    close: () => client.close(),
  }
}
