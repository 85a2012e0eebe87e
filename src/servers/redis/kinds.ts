import { redisBarrier } from './barrier-commands.ts'
import type { RedisKinds } from './calls/redis-kind.ts'
import { redisElection } from './election-channel.ts'
import { redisFair } from './fair-commands.ts'
import { redisJob } from './job-commands.ts'
import { redisLatch } from './latch-commands.ts'
import { redisRate } from './rate-commands.ts'
import { redisReadWrite } from './read-write/read-write-commands.ts'
import { redisPermits } from './semaphore/permit-commands.ts'
import { redisSemaphore } from './semaphore/semaphore-commands.ts'

const ALL = [
  redisFair,
  redisReadWrite,
  redisPermits,
  redisSemaphore,
  redisLatch,
  redisBarrier,
  redisElection,
  redisJob,
  redisRate,
]

/**
 * All kinds on Redis except plain locks, by the `name` of their `ServerKind`. Add a new kind to the
 * list above.
 */
export const REDIS_KINDS: RedisKinds = new Map(ALL.map((one) => [one.kind.name, one]))
