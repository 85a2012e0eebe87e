// The lowest cost of many held locks: one PEXPIRE for each lock, in pipelines, after each third of the lease.
import { connectAsHoldfast } from './connection.mjs'

const CHUNK = 500

export async function open(url, { leaseMs = 30_000 } = {}) {
  const client = await connectAsHoldfast(url)
  const held = new Set()
  const renew = () => {
    const names = [...held]
    for (let from = 0; from < names.length; from += CHUNK) {
      const pipeline = client.pipeline()
      for (const name of names.slice(from, from + CHUNK)) pipeline.pexpire(name, leaseMs)
      pipeline.exec()
    }
  }
  const ticks = setInterval(renew, leaseMs / 3)
  return {
    async acquire(name) {
      await client.set(name, 'held', 'PX', leaseMs, 'NX')
      held.add(name)
      return async () => {
        held.delete(name)
        await client.del(name)
      }
    },
    close() {
      clearInterval(ticks)
      client.disconnect()
    },
  }
}
