import { kindKey, requestKey } from '../../src/servers/redis/calls/keys.ts'
import { RedisServer } from '../../src/servers/redis/redis-server.ts'
import type { RedisSemaphoreServer } from '../../src/servers/redis/semaphore/semaphore-commands.ts'
import { eventually } from '../support/eventually.ts'
import { sharedServer } from '../support/redis-server.ts'

const redis = sharedServer()

test('however many requests were answered at once, the next one is done as any other, and they are forgotten', async () => {
  const { host, port } = redis
  const server = new RedisServer({ host, port }, 5_000, () => {})
  const semaphores = server.semaphoresFor('c', 5_000) as RedisSemaphoreServer
  try {
    const keys = Array.from({ length: 9_000 }, (_, n) => requestKey('it', `c:${n}`))
    await redis.admin.mset(keys.flatMap((key) => [key, '1']))
    // More than Lua passes to a command at once.
    for (const key of keys) semaphores.answered.add('it', key)
    const change = { id: 'c:last', permits: 1, ifExists: false }
    expect(await semaphores.semaphore('it').add(change, 5_000)).toBe(true)
    await server.quiet()
    await eventually(
      async () => (await redis.admin.keys('*')).sort().join() === `${kindKey('it')},it`,
    )
  } finally {
    server.close()
    await redis.flush()
  }
})
