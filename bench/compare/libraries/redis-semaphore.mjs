import { connectAll } from './connection.mjs'
import { load } from './peer.mjs'

export async function open(url, { pollMs = 10, leaseMs = 30_000 } = {}) {
  const { Mutex, RedlockMutex } = await load('redis-semaphore')
  const clients = await connectAll(url)
  const options = { lockTimeout: leaseMs, acquireTimeout: 3_600_000, retryInterval: pollMs }
  const mutexOf = (name) =>
    clients.length === 1
      ? new Mutex(clients[0], name, options)
      : new RedlockMutex(clients, name, options)
  return {
    async acquire(name) {
      const mutex = mutexOf(name)
      await mutex.acquire()
      return () => mutex.release()
    },
    close() {
      for (const client of clients) client.disconnect()
    },
  }
}
