import { join } from 'node:path'
import { Redis } from 'ioredis'
import { type RedisServer, startRedis } from '../redis-server.ts'
import { UserInstance } from '../user-instance.ts'
import { inTurn, type Place, type Way } from './place.ts'

const KEY_PREFIX = 'app:'
const DATABASE = 2
const SOCKET = 'redis.sock'

/**
 * Starts one server. Clients find it through each form of the option `redis`, always with the same prefix and database.
 */
export async function startInstancesPlace(): Promise<Place> {
  const server = await startRedis({ config: { unixsocket: SOCKET, unixsocketperm: 700 } })
  await server.admin.select(DATABASE)
  return { server, keyPrefix: KEY_PREFIX, way: inTurn(formsOf(server)) }
}

function formsOf({ host, port, url, folder }: RedisServer): (() => Way)[] {
  const place = { host, port, keyPrefix: KEY_PREFIX, db: DATABASE }
  const instance = (make: () => Redis) => () => {
    const user = new UserInstance(make())
    return { redis: user.redis, afterClose: () => user.checkAndEnd() }
  }
  const path = join(folder, SOCKET)
  return [
    () => ({ redis: `${url}/${DATABASE}?keyPrefix=${KEY_PREFIX}` }),
    () => ({ redis: place }),
    () => ({ redis: { path, keyPrefix: KEY_PREFIX, db: DATABASE } }),
    instance(() => new Redis({ ...place, lazyConnect: true })),
    instance(() => new Redis({ ...place, retryStrategy: () => 20 })),
    // The settings of users with job queues, and of users whose calls must fail soon.
    instance(() => new Redis({ ...place, maxRetriesPerRequest: null, enableReadyCheck: false })),
    instance(() => new Redis({ ...place, enableAutoPipelining: true, commandTimeout: 5_000 })),
    instance(() => new Redis({ ...place, connectionName: 'mine', stringNumbers: true })),
  ]
}
