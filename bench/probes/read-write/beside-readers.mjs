// Measures how long Redis is busy with one call beside 0, 10, 100, 1,000 and 10,000 readers that hold the lock. Their
// leases were renewed at various times. The times are script times from INFO commandstats, in µs. The calls are a
// short read, a refused attempt to write, and the upgradable lock. Another short read has a lease that is ten times
// as long as the leases of the readers. Reads and the upgradable lock include the release. Each number is the median
// of some blocks.
// Run `npm run build`, then `node bench/probes/read-write/beside-readers.mjs [calls] [blocks]`. `--quick` makes a
// short run.

import { readWriteKeys } from '../../../.cache/modules/src/servers/redis/key-names/read-write.js'
import { Holdfast } from '../../../dist/esm/src/index.js'
import { median } from '../../compare/figures.mjs'
import { startServer, table } from '../../support/support.mjs'

const LEASE_MS = 600_000

const quick = process.argv.includes('--quick')
const [calls = quick ? 5 : 100, blocks = quick ? 1 : 9] = process.argv
  .slice(2)
  .filter((arg) => arg !== '--quick')
  .map(Number)
const server = await startServer()
const client = new Holdfast({ redis: server.url, leaseMs: LEASE_MS })
const rows = []
for (const readers of quick ? [0, 10] : [0, 10, 100, 1_000, 10_000]) {
  const [same, shorter] = [`same:${readers}`, `shorter:${readers}`]
  await stay(same, readers, LEASE_MS)
  await stay(shorter, readers, LEASE_MS / 10)
  const lock = client.getReadWriteLock(same)
  const measured = [
    () => lock.readLock().using(() => undefined),
    () =>
      client
        .getReadWriteLock(shorter)
        .readLock()
        .using(() => undefined),
    ...(readers > 0 ? [() => lock.writeLock().tryLock()] : []),
    () => lock.upgradableLock().using(() => undefined),
  ]
  const figures = []
  for (const call of measured) figures.push(median(await busyUs(call)).toFixed(0))
  if (readers === 0) figures.splice(2, 0, '–')
  rows.push([readers, ...figures])
}
table(['readers', 'read', 'read, shorter leases of others', 'write refused', 'upgradable'], rows)
await client.close()
await server.stop()

/** Adds `readers` readers, like their clients do. Some of them were renewed up to a third of a lease ago. */
async function stay(name, readers, leaseMs) {
  const { prefix } = readWriteKeys(name)
  if (readers === 0) return
  const all = server.admin.pipeline()
  all.hset(name, 'mode', 'read')
  for (let i = 0; i < readers; i += 1) {
    const owner = `a-client-of-21-letters:${i}`
    all.hset(name, owner, 1)
    const leftMs = Math.round(leaseMs * (1 - Math.random() / 3))
    all.set(`${prefix}:${owner}:rwlock_timeout:1`, String(Date.now() * 1_000), 'PX', leftMs)
  }
  all.pexpire(name, leaseMs)
  await all.exec()
}

/** The script time for one call, for each block, in µs. */
async function busyUs(call) {
  await call()
  const figures = []
  for (let block = 0; block < blocks; block += 1) {
    await server.admin.config('RESETSTAT')
    for (let i = 0; i < calls; i += 1) await call()
    const stats = await server.admin.info('commandstats')
    const spent = [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=\d+,usec=(\d+)/g)]
    figures.push(spent.reduce((sum, [, usec]) => sum + Number(usec), 0) / calls)
  }
  return figures
}
