import { Redis } from 'ioredis'
import { startWatched } from '../redis-sentinel.ts'
import type { RedisServer } from '../redis-server.ts'
import { UserInstance } from '../user-instance.ts'
import { inTurn, type Place, type Way } from './place.ts'
import { MasterWithReplicas } from './replicas.ts'

/** So long that a master on a machine that stalls for a moment does not count as down. */
const DOWN_AFTER_MS = 15_000

/** A master, two replicas, and three Sentinels that watch them. */
export async function startSentinelPlace(): Promise<Place> {
  const watched = await startWatched({ downAfterMs: DOWN_AFTER_MS })
  const [master] = watched.servers as [RedisServer]
  const instanceWith = (lazyConnect: boolean) => () => {
    const instance = new UserInstance(new Redis({ ...watched.options, lazyConnect }))
    return { redis: instance.redis, afterClose: () => instance.checkAndEnd() }
  }
  return {
    server: new MasterWithReplicas(master),
    way: inTurn<Way>([() => ({ redis: watched.options }), instanceWith(true), instanceWith(false)]),
  }
}
