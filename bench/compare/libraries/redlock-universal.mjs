import { connectAll } from './connection.mjs'
import { load } from './peer.mjs'

const FOREVER = 1_000_000

export async function open(url, { pollMs, leaseMs = 30_000 } = {}) {
  const { createLock, createRedlock, IoredisAdapter } = await load('redlock-universal')
  const clients = await connectAll(url)
  const adapters = clients.map((client) => new IoredisAdapter(client))
  const options = { ttl: leaseMs, retryAttempts: FOREVER, ...(pollMs && { retryDelay: pollMs }) }
  const lockOf = (key) =>
    adapters.length === 1
      ? createLock({ adapter: adapters[0], key, ...options })
      : createRedlock({ adapters, key, ...options })
  const known = new Map()
  return {
    // Each lock object sends a PING before its first acquisition, so the objects are kept.
    async acquire(name) {
      const lock = known.get(name) ?? lockOf(name)
      known.set(name, lock)
      const handle = await lock.acquire()
      return () => lock.release(handle)
    },
    close() {
      for (const client of clients) client.disconnect()
    },
  }
}
