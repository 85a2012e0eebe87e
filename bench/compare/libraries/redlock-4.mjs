import { connectAll } from './connection.mjs'
import { load } from './peer.mjs'

export async function open(url, { pollMs, leaseMs = 30_000 } = {}) {
  const { default: Redlock } = await load('redlock-4')
  const clients = await connectAll(url)
  const delays = pollMs && { retryDelay: pollMs, retryJitter: pollMs / 2 }
  const redlock = new Redlock(clients, { retryCount: -1, ...delays })
  redlock.on('clientError', () => {})
  return {
    async acquire(name) {
      const lock = await redlock.lock(name, leaseMs)
      return () => lock.unlock()
    },
    close() {
      for (const client of clients) client.disconnect()
    },
  }
}
