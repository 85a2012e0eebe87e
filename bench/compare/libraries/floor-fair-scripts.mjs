// Calls the scripts of the fair lock with as little code as possible. The difference to the fair lock is the cost of its
// client.
import {
  acquire,
  release,
} from '../../../.cache/modules/src/servers/redis/scripts/fair.generated.js'
import { connectAsHoldfast } from './connection.mjs'

const LEASE_MS = 30_000
const COUNTER_MS = 86_400_000
const CLAIM_MS = 1_500
const ALIVE_MS = 6_000
const NEVER = 0
const INBOX = 'holdfast_inbox'

export async function open(url) {
  const client = await connectAsHoldfast(url)
  await Promise.all([acquire, release].map(({ script }) => client.script('LOAD', script.source)))
  const keysOf = (name) => [
    ...[name, `redisson_lock_token:{${name}}`, `holdfast_queue:{${name}}`],
    ...[`holdfast_waiting:{${name}}`, `redisson_lock_queue:{${name}}`],
    `redisson_lock_timeout:{${name}}`,
  ]
  let ids = 0
  return {
    async acquire(name) {
      ids += 1
      const owner = `floor-of-our-scripts:${process.pid}.${ids}`
      const keys = keysOf(name)
      const [kind, token] = await client.evalsha(
        ...[acquire.script.sha1, 4, ...keys.slice(0, 4)],
        ...[owner, LEASE_MS, '', NEVER, '', 'floor', COUNTER_MS, CLAIM_MS, ALIVE_MS, INBOX],
      )
      if (kind !== 'granted') throw new Error(`${name} is held, and this code does not wait`)
      const channel = `redisson_lock__channel:{${name}}`
      return () =>
        client.evalsha(
          ...[release.script.sha1, 6, ...keys],
          ...[owner, token, COUNTER_MS, CLAIM_MS, INBOX, channel, 'PUBLISH', 0],
        )
    },
    close: () => client.disconnect(),
  }
}
