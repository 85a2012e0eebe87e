// Measures the cost for the server of a refused acquisition, with and without the holder in the answer. The scripts
// of two builds take turns, in rounds. The numbers are µs of the server for each call (`INFO commandstats`).
//
//   node bench/probes/lock/contended-answer.mjs <folder of before> <folder of now> [redis://127.0.0.1:6379]
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Redis } from 'ioredis'
import { entryOf } from '../../../scripts/lib/entry-of.mjs'

const [before, now, url = 'redis://127.0.0.1:6379'] = process.argv.slice(2)
const redis = new Redis(url)
const scriptsOf = async (folder) => {
  const file = join(dirname(entryOf(folder)), 'servers/redis/scripts/lock.generated.js')
  const { acquire } = await import(pathToFileURL(file).href)
  // Older builds have the text of the script directly in `acquire`.
  const { source, sha1 } = acquire.script ?? acquire
  await redis.script('LOAD', source)
  return sha1
}
const [shaBefore, shaNow] = [await scriptsOf(before), await scriptsOf(now)]
const KEYS = ['contended', 'redisson_lock_token:{contended}']
const CALLS = 5_000

async function usecPerCall(sha, owner, free) {
  await redis.config('RESETSTAT')
  const batch = redis.pipeline()
  for (let i = 0; i < CALLS; i++) {
    batch.evalsha(sha, 2, ...KEYS, `${owner}:${i}`, 30_000, 0, 3_600_000)
    if (free) batch.del(KEYS[0])
  }
  await batch.exec()
  const stats = await redis.info('commandstats')
  return Number(/cmdstat_evalsha:.*?usec_per_call=([\d.]+)/.exec(stats)?.[1])
}

const median = (all) => all.sort((a, b) => a - b)[Math.floor(all.length / 2)]
const times = { contendedBefore: [], contendedNow: [], grantedBefore: [], grantedNow: [] }
for (let round = 0; round < 15; round++) {
  await redis.del(...KEYS)
  await redis.evalsha(shaNow, 2, ...KEYS, 'holder:1', 600_000, 0, 3_600_000)
  const builds = [
    ['Before', shaBefore],
    ['Now', shaNow],
  ]
  if (round % 2 === 1) builds.reverse()
  for (const [name, sha] of builds) {
    times[`contended${name}`].push(await usecPerCall(sha, 'c', false))
  }
  await redis.del(...KEYS)
  for (const [name, sha] of builds) {
    times[`granted${name}`].push(await usecPerCall(sha, 'c', true))
  }
}
await redis.del(...KEYS)
for (const [name, all] of Object.entries(times))
  console.log(name.padEnd(16), median(all).toFixed(2), 'µs, least', all[0].toFixed(2))
redis.disconnect()
