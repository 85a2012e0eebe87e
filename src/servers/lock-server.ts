import type { LockKeys } from './redis/keys.ts'
import type { RedisServer } from './redis/redis-server.ts'

/** What locks ask of the server that they live on, or of a majority of several. */
export type LockServer = Pick<
  RedisServer,
  | 'acquire'
  | 'handOver'
  | 'release'
  | 'renew'
  | 'groups'
  | 'seen'
  | 'forceRelease'
  | 'inspect'
  | 'listen'
  | 'lateAtMostMs'
  | 'whyDown'
  | 'everUp'
  | 'connect'
  | 'close'
  | 'countsListeners'
  | 'quiet'
  | 'identify'
> &
  Partial<Pick<RedisServer, 'acquireAll'>> & {
    /** The time of that hold ran out, and nobody has released it: for servers that keep an account of names. */
    ranOut?(keys: LockKeys, owner: string): void
  }
