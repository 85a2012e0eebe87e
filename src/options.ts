import type { Cluster, Redis, RedisOptions } from 'ioredis'
import type { DurabilityOptions } from './durability.ts'
import { InvalidArgumentError, show } from './errors.ts'
import { assertKnown, assertNoMore, leaseMs, wholeMs } from './input.ts'
import type { NodeRedisClient } from './node-redis-source.ts'
import type { Owner } from './owner/owner.ts'
import type { ServerList } from './server-lists.ts'
import type { WatchdogThreadOptions } from './watchdog-thread.ts'

export interface HoldfastOptions {
  /**
   * Where Redis is: a URL, ioredis options, a list of the nodes of a cluster or of Sentinels, or a client of
   * your own: an ioredis `Redis` or `Cluster`, or one that `createClient` of node-redis made. From any of them
   * Holdfast opens connections of its own, by ioredis; yours is never reconfigured or closed.
   */
  redis?: string | RedisOptions | Redis | Cluster | ServerList | NodeRedisClient
  /**
   * Independent masters instead of one server: every lock is then held by a majority of them, and
   * outlives any minority. Each is given as `redis` is, but not as a cluster; take 3 or 5 that fail
   * independently, the same for all clients.
   */
  masters?: readonly (string | RedisOptions | Redis | NodeRedisClient)[]
  /**
   * The longest lease that any client takes, in milliseconds, with `masters` and of a RedLock: so
   * long a master that was started anew, emptied, or was a replica does not vote, since it may have
   * forgotten. Longer leases are refused there. Best the same for all clients.
   *
   * @default twice `leaseMs`
   */
  longestLeaseMs?: number
  /**
   * Whether `masters`, or those of a RedLock, that have never been used vote at once, for the first
   * start of a deployment.
   * It counts only while all of them can be reached and none has ever voted.
   *
   * @default false
   */
  newDeployment?: boolean
  /**
   * The lease of acquisitions without one of their own, in milliseconds: the watchdog renews it
   * every third until the release. Also how long a lock outlives a crashed process.
   *
   * @default 30_000
   */
  leaseMs?: number
  /**
   * Put before every lock name; the result is the raw name in Redis.
   *
   * @default the `keyPrefix` of the ioredis options or client
   */
  keyPrefix?: string
  /**
   * What `inspect()` shows for this process where it waits for a fair lock, and the label of its candidates in
   * elections that have none of their own.
   *
   * @default the host's name and the process id, `host:4711`
   */
  label?: string
  /**
   * Whether fencing token counters stay in Redis for good, as Redisson's do. Needed where its
   * `RFencedLock` shares a lock, which counts from 1 again when the counter is gone. Otherwise a
   * counter ends after `counterTtlMs`, and the next token is above it all the same.
   *
   * @default false
   */
  keepCounters?: boolean
  /**
   * How long the counter of a lock's tokens outlives its last use, in milliseconds; while the lock
   * is held it stays at any rate. Tokens rise although it is gone, unless the clock of the server
   * was set back by more than this. Not together with `keepCounters`.
   *
   * @default 3_600_000
   */
  counterTtlMs?: number
  /**
   * Whether, in a cluster of Redis 7 or later, releases are told on sharded channels, as Redisson
   * tells them there. All clients that share locks must do the same. It needs ioredis 5.9 or later.
   *
   * @default true
   */
  shardedPubSub?: boolean
  /**
   * The longest that one command may take before its outcome counts as unknown, in milliseconds.
   * With `masters` one of them has no longer than a tenth of `leaseMs`, but 100 ms at least.
   *
   * @default 2_000
   */
  commandTimeoutMs?: number
  /**
   * How long a call puts up with a Redis that cannot be reached, is silent, or refuses for a reason
   * that passes (loading, full, failing over), in milliseconds. Then it rejects.
   *
   * @default 5_000
   */
  outageMs?: number
  /**
   * Lets a worker thread with a connection of its own renew the leases while the event loop of the
   * main thread is blocked. Turn it on where synchronous work can take longer than half of the
   * lease. Where the thread cannot be started acquisitions reject with `InvalidArgumentError`.
   *
   * @default off
   */
  watchdogThread?: boolean | WatchdogThreadOptions
  /**
   * On which replicas an acquisition has to be before it counts: locks of every kind and permits with leases.
   * Fewer in time reject it with `NotDurableError`, and it is undone. Costs a connection, and a round trip to
   * the slowest of the replicas wanted. Not together with `masters`.
   *
   * @default off: an acquisition counts when the master has it
   */
  durability?: DurabilityOptions
}

/** What `getLock` takes beside the name. */
export interface GetLockOptions {
  /**
   * The owner that all acquisitions through this object act for, from `holdfast.owner()`. Without
   * it the frame of the running code decides, and where none does each acquisition is an owner
   * of its own.
   */
  owner?: Owner
}

export interface LockOptions {
  /**
   * A fixed lease in milliseconds, at least 10, that is not renewed. Without it the watchdog keeps
   * the lock until the release.
   */
  leaseMs?: number
  /** Ends the wait: the call rejects with `signal.reason`. Once acquired it has no effect. */
  signal?: AbortSignal
}

export interface TryLockOptions extends LockOptions {
  /** The longest wait in milliseconds. Without it the lock is tried once. 0 is refused. */
  waitMs?: number
}

/** What `await` of a latch takes. */
export interface AwaitOptions {
  /** The longest wait in milliseconds. Without it there is none. 0 is refused. */
  waitMs?: number
  /** Ends the wait: the call rejects with `signal.reason`. */
  signal?: AbortSignal
}

/** What `lock` and `using` take, and what `tryLock` and `tryUsing` do. */
const LOCK_OPTIONS = ['leaseMs', 'signal'] as const
const TRY_LOCK_OPTIONS = ['waitMs', 'leaseMs', 'signal'] as const

/** How an acquisition is meant, from any of the forms of `lock`, `tryLock` and `using`. */
export interface Acquisition {
  readonly leaseMs: number | undefined
  /** 0 is not at all, Infinity without an end. */
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
}

/** What `lock` and `using` mean, and what `tryLock` and `tryUsing` do, where nothing is given. */
const UNTIL_HELD: Acquisition = { leaseMs: undefined, waitMs: Infinity, signal: undefined }
const ONCE: Acquisition = { leaseMs: undefined, waitMs: 0, signal: undefined }

const TRY_ONCE = 'To try once without waiting, leave it out: tryLock() or tryLock({ leaseMs }).'

/**
 * @param options what the user gave
 * @param known the options that the form takes
 * @param otherwise what holds where nothing is given
 */
function resolveAcquisition(
  options: unknown,
  known: readonly (keyof TryLockOptions)[],
  otherwise: Acquisition,
): Acquisition {
  if (options === undefined) return otherwise
  if (typeof options !== 'object' || options === null) {
    throw new InvalidArgumentError(`Lock options must be an object; got ${show(options)}.`)
  }
  assertKnown(Object.keys(options), known)
  const given = options as TryLockOptions
  assertSignal(given.signal)
  return {
    leaseMs: given.leaseMs === undefined ? undefined : leaseMs(given.leaseMs, '`leaseMs`'),
    waitMs: given.waitMs === undefined ? otherwise.waitMs : wholeWaitMs(given.waitMs, TRY_ONCE),
    signal: given.signal,
  }
}

/** How the arguments of `lock` are meant: options, or a lease alone. */
export function lockArguments(options: unknown, others: readonly unknown[]): Acquisition {
  assertNoMore(others)
  const isLease = options !== undefined && typeof options !== 'object'
  return usingOptions(isLease ? { leaseMs: options } : options)
}

/** How the arguments of `tryLock` are meant: options, or a wait and a lease. */
export function tryLockArguments(
  first: unknown,
  leaseMs: unknown,
  others: readonly unknown[],
): Acquisition {
  assertNoMore(others)
  const areTimes = typeof first !== 'object' && (first !== undefined || leaseMs !== undefined)
  return tryUsingOptions(areTimes ? { waitMs: first, leaseMs } : first)
}

/** How the options of `using` are meant. */
export function usingOptions(options: unknown): Acquisition {
  return resolveAcquisition(options, LOCK_OPTIONS, UNTIL_HELD)
}

/** How the options of `tryUsing` are meant. */
export function tryUsingOptions(options: unknown): Acquisition {
  return resolveAcquisition(options, TRY_LOCK_OPTIONS, ONCE)
}

/** How the options of `await` are meant. */
export function awaitArguments(options: unknown): AwaitOptions {
  if (options === undefined) return {}
  if (typeof options !== 'object' || options === null) {
    throw new InvalidArgumentError(
      `Options of await must be an object, as { waitMs: 500 }; got ${show(options)}.`,
    )
  }
  assertKnown(Object.keys(options), ['waitMs', 'signal'])
  const { waitMs, signal } = options as AwaitOptions
  assertSignal(signal)
  if (waitMs !== undefined) wholeWaitMs(waitMs, 'To ask once without waiting there is count().')
  return options
}

/** @param instead what to do where nobody is to wait */
export function wholeWaitMs(value: unknown, instead: string): number {
  if (value !== 0) return wholeMs(value, '`waitMs`')
  throw new InvalidArgumentError(
    `\`waitMs\` must be a positive whole number of milliseconds; got 0. ${instead}`,
  )
}

function assertSignal(signal: unknown): void {
  if (signal === undefined || signal instanceof AbortSignal) return
  throw new InvalidArgumentError(`\`signal\` must be an AbortSignal; got ${show(signal)}.`)
}
