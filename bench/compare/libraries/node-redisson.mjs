import { load } from './peer.mjs'

export async function open(url) {
  const { Redisson } = await load('node-redisson')
  const { hostname, port } = new URL(url)
  const client = new Redisson({ redis: { options: { host: hostname, port: Number(port) } } })
  return {
    async acquire(name) {
      const lock = client.getLock(name)
      await lock.lock()
      return () => lock.unlock()
    },
    async nested(name, work) {
      const lock = client.getLock(name)
      await lock.lock()
      await work(async () => {
        await lock.lock()
        return () => lock.unlock()
      })
      await lock.unlock()
    },
    close: () => client.quit(),
  }
}
