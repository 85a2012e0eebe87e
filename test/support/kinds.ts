import type { LockServer } from '../../src/servers/lock-server.ts'
import { REDIS_KINDS } from '../../src/servers/redis/kinds.ts'
import type { ServerKind } from '../../src/servers/server-kind.ts'

/** The kinds on Redis, for tests that construct a `RedisServer`. */
export const redisKinds = REDIS_KINDS

/** Returns the requests of a kind, as a client uses them. */
export function requestsOfKind<R extends object>(
  server: LockServer,
  kind: ServerKind<R>,
  clientId = 'c',
): R {
  const requests = server.kind?.(kind, { clientId, label: clientId, outageMs: 5_000 })
  if (requests === undefined) throw new Error(`The server has no ${kind.name}`)
  return requests
}
