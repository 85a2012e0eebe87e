// The least that a lock with a lease can cost: SET NX PX, and a script that compares and deletes.
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
        throw new Error(`${name} is taken, and this does not wait`)
      }
      return () => client.evalsha(release, 1, name, id)
    },
    /** Each way a bare call of a script. */
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
