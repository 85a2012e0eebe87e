// Calls the scripts of Holdfast with as little code as possible. The difference to Holdfast is the cost of its
// client.
import {
  acquire,
  release,
} from '../../../.cache/modules/src/servers/redis/scripts/lock.generated.js'
import { connectAsHoldfast } from './connection.mjs'

const LEASE_MS = 30_000
const COUNTER_MS = 86_400_000
const NEVER = 0

export async function open(url) {
  const client = await connectAsHoldfast(url)
  await Promise.all([acquire, release].map(({ script }) => client.script('LOAD', script.source)))
  const run = ({ script }, name, ...args) =>
    client.evalsha(script.sha1, 2, name, `redisson_lock_token:{${name}}`, ...args)
  const take = (name, owner, ...holds) =>
    run(acquire, name, owner, LEASE_MS, NEVER, COUNTER_MS, ...holds)
  const leave = (name, owner, token, ...left) =>
    run(release, name, owner, token, `redisson_lock__channel:{${name}}`, 'PUBLISH', ...left)
  let ids = 0
  return {
    async acquire(name) {
      ids += 1
      const owner = `floor-of-our-scripts:${process.pid}.${ids}`
      const [kind, token] = await take(name, owner)
      if (kind !== 'granted') throw new Error(`${name} is held, and this code does not wait`)
      return () => leave(name, owner, token)
    },
    async nested(name, work) {
      const owner = `floor-of-our-scripts:${process.pid}`
      const [, token] = await take(name, owner)
      await work(async () => {
        await take(name, owner, 2)
        return () => leave(name, owner, token, 1, NEVER)
      })
      await leave(name, owner, token)
    },
    close: () => client.disconnect(),
  }
}
