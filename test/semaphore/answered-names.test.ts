import { kindKey, requestKey } from '../../src/servers/redis/calls/keys.ts'
import { RedisServer } from '../../src/servers/redis/redis-server.ts'
import type { RedisSemaphoreServer } from '../../src/servers/redis/semaphore/semaphore-commands.ts'
import { SEMAPHORE } from '../../src/servers/semaphore-server.ts'
import { eventually } from '../support/eventually.ts'
import { redisKinds, requestsOfKind } from '../support/kinds.ts'
import { sharedServer } from '../support/redis-server.ts'

const redis = sharedServer()

test('a request works after 9,000 answered requests, and the server then forgets all of them', async () => {
  const { host, port } = redis
  const server = new RedisServer({ host, port }, 5_000, () => {}, { kinds: redisKinds })
  const semaphores = requestsOfKind(server, SEMAPHORE) as RedisSemaphoreServer
  try {
    const keys = Array.from({ length: 9_000 }, (_, n) => requestKey('it', `c:${n}`))
    await redis.admin.mset(keys.flatMap((key) => [key, '1']))
    // These are more names than Lua can pass to a command at once.
    for (const key of keys) semaphores.answered.add('it', key)
    const change = { id: 'c:last', permits: 1, ifExists: false }
    expect(await semaphores.semaphore('it').add(change, 5_000)).toBe(true)
    await server.quiet()
    await eventually(
      async () => (await redis.admin.keys('*')).sort().join() === `${kindKey('it')},it`,
    )
  } finally {
    server.disconnect()
    await redis.flush()
  }
})

test('a grant that its caller abandons is given back, even if another request is sent in between', async () => {
  const { host, port } = redis
  const server = new RedisServer({ host, port }, 5_000, () => {}, { kinds: redisKinds })
  try {
    const semaphore = requestsOfKind(server, SEMAPHORE).semaphore('it')
    const change = (id: string) => ({ id, permits: 3, ifExists: false })
    await semaphore.add(change('c:first'), 5_000)
    const owner = 'c:owner:2'
    const attempt = {
      owner,
      permits: 2,
      leaseMs: 1_000,
      reserve: 0,
      callMs: 5_000,
      beside: undefined,
    }
    const waiting = { waits: false, isLast: true, beganAt: 0, waitId: '', leftMs: 0 }
    const kind = await new Promise<string>((resolve, reject) => {
      semaphore.acquire(
        { ...attempt, ...waiting },
        {
          answered: (answer) => {
            // This request tells the server which answers the client has received.
            void semaphore.add(change('c:second'), 5_000)
            semaphore.abandon(owner, 0, 0, () => true)
            resolve(answer.kind)
          },
          failed: reject,
        },
      )
    })
    expect(kind).toBe('granted')
    await eventually(async () => (await redis.admin.get('it')) === '6')
  } finally {
    server.disconnect()
    await redis.flush()
  }
})
