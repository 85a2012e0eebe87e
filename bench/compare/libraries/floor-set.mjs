// The lowest cost of a lock with a lease: SET NX PX, and a script that compares and deletes.
import { connectAsHoldfast } from './connection.mjs'

export const RELEASE =
  "return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1]) or 0"
const NESTED = "return redis.call('HINCRBY', KEYS[1], ARGV[1], ARGV[2])"

export async function open(url, { pipelining = false, leaseMs = 30_000 } = {}) {
  const client = await connectAsHoldfast(url, { enableAutoPipelining: pipelining })
  const release = await client.script('LOAD', RELEASE)
  const count = await client.script('LOAD', NESTED)
  let ids = 0
  return {
    async acquire(name) {
      ids += 1
      const id = `${process.pid}:${ids}`
      if ((await client.set(name, id, 'PX', leaseMs, 'NX')) === null) {
        throw new Error(`${name} is held, and this code does not wait`)
      }
      return () => client.evalsha(release, 1, name, id)
    },
    /** One bare call of a script for each acquisition, and one for each release. */
    async nested(name, work) {
      await work(async () => {
        await client.evalsha(count, 1, name, process.pid, 1)
        return () => client.evalsha(count, 1, name, process.pid, -1)
      })
      await client.del(name)
    },
    close: () => client.disconnect(),
  }
}
