// redlock 5 and the fork of Sesame Care, which has the same API.
import { connectAll } from './connection.mjs'
import { load } from './peer.mjs'

export async function open(url, { package: name, pollMs, leaseMs = 30_000 }) {
  const exported = await load(name)
  const Redlock = exported.Redlock ?? exported.default
  const clients = await connectAll(url)
  const delays = pollMs && { retryDelay: pollMs, retryJitter: pollMs / 2 }
  const redlock = new Redlock(clients, { retryCount: -1, ...delays })
  redlock.on('error', () => {})
  return {
    async acquire(resource) {
      const lock = await redlock.acquire([resource], leaseMs)
      return () => lock.release()
    },
    close() {
      for (const client of clients) client.disconnect()
    },
  }
}
