// Measures lock() and release() of one name in one process: with keepMs, without keepMs, and the floor. The floor is a
// bare SET NX PX and a release script, each with one round trip. The variants take turns. Then measures how long a lock
// of another client waits for a kept lock, and for a lock that was released.
// Run `npm run build`, then `node bench/probes/lock/keep.mjs [rounds] [acquisitions] [folder of an earlier build]`.
import { resolve } from 'node:path'
import { entryOf } from '../../../scripts/lib/entry-of.mjs'
import { open as openFloor } from '../../compare/libraries/floor-set.mjs'
import { callsOf, quantile, spread, startServer } from '../../support/support.mjs'

const [rounds = 40, acquisitions = 2_000] = process.argv.slice(2, 4).map(Number)
const earlier = process.argv[4]
const here = resolve(import.meta.dirname, '../../..')
const { Holdfast } = await import(entryOf(here))

const server = await startServer()
const { url } = server
const floor = await openFloor(url)
const opened = [floor]
const newClient = (Client, options = {}) => {
  const client = new Client({ redis: url, ...options })
  opened.push(client)
  return client
}
const locksOf = (client) => {
  const lock = client.getLock('keep')
  return async () => {
    const lease = await lock.lock()
    return () => lease.release()
  }
}
const keeper = newClient(Holdfast, { keepMs: 5_000 })
const variants = {
  floor: { acquire: () => floor.acquire('keep') },
  'without keepMs': { acquire: locksOf(newClient(Holdfast)) },
  'with keepMs': { acquire: locksOf(keeper), after: () => keeper.getLock('keep').forceUnlock() },
}
if (earlier !== undefined) {
  const { Holdfast: Earlier } = await import(entryOf(resolve(earlier)))
  variants['an earlier build'] = { acquire: locksOf(newClient(Earlier)) }
}

const took = Object.fromEntries(Object.keys(variants).map((name) => [name, []]))
const scripts = {}
for (let round = -5; round < rounds; round++) {
  for (const [name, { acquire, after }] of Object.entries(variants).sort(
    () => Math.random() - 0.5,
  )) {
    await server.admin.config('RESETSTAT')
    const beganAt = performance.now()
    for (let i = 0; i < acquisitions; i++) await (await acquire())()
    const us = ((performance.now() - beganAt) * 1_000) / acquisitions
    const { evalsha = 0 } = await callsOf(server.admin)
    if (round >= 0) {
      took[name].push(us)
      scripts[name] = evalsha / acquisitions
    }
    await after?.()
  }
}
console.log(`lock() and release() of one name, ${rounds} rounds of ${acquisitions}:`)
for (const [name, all] of Object.entries(took)) {
  const ratios = all.map((us, round) => took.floor[round] / us)
  console.log(
    `  ${name}: ${quantile(all, 0.5).toFixed(2)} µs; ${quantile(ratios, 0.5).toFixed(2)} times as fast as the floor; ` +
      `${scripts[name].toFixed(3)} scripts each`,
  )
}

for (const [name, keepMs] of [
  ['a lock that was released', 0],
  ['a kept lock', 5_000],
]) {
  const one = newClient(Holdfast).getLock('wanted', { keepMs })
  const other = newClient(Holdfast).getLock('wanted')
  const waits = []
  for (let i = -5; i < 200; i++) {
    for (let j = 0; j < 3; j++) await (await one.lock()).release()
    const askedAt = performance.now()
    const lease = await other.lock()
    if (i >= 0) waits.push(performance.now() - askedAt)
    await lease.release()
  }
  console.log(`lock() of another client, for ${name}: ${spread(waits)}`)
}
for (const one of opened) await one.close()
await server.stop()
