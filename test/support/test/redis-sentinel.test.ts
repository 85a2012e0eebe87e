import { Redis } from 'ioredis'
import { startWatched } from '../redis-sentinel.ts'

test('Sentinels name the master, and another master after a planned failover', async () => {
  const watched = await startWatched()
  expect(await watched.master()).toBe(watched.servers[0])
  const redis = new Redis({ ...watched.options, lazyConnect: true })
  await redis.connect()
  await redis.set('it', 1, 'PX', 60_000)
  await watched.replicated()
  redis.disconnect()
  const next = await watched.failover()
  expect(watched.servers.slice(1)).toContain(next)
  expect(await next.admin.exists('it')).toBe(1)
  await next.admin.del('it')
})
