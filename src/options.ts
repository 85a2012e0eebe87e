import { hostname } from 'node:os'
import type { Cluster, Redis, RedisOptions } from 'ioredis'
import { InvalidArgumentError, show } from './errors.ts'
import { assertKnown, leaseMs, wholeMs } from './input.ts'
import type { Owner } from './owner/owner.ts'

export interface HoldfastOptions {
  /**
   * Where Redis is: a URL, ioredis options, or an ioredis `Redis` or `Cluster` of your own. From
   * any of them Holdfast opens connections of its own; yours is never reconfigured or closed.
   */
  redis: string | RedisOptions | Redis | Cluster
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
   * What `inspect()` shows for this process where it waits for a fair lock.
   *
   * @default the host's name and the process id, `host:4711`
   */
  label?: string
  /**
   * Whether fencing token counters stay in Redis for good, as Redisson's do. Needed where its
   * `RFencedLock` shares a lock, which counts from 1 again when the counter is gone. Otherwise a
   * counter ends a day after its last use, and the next token is above it all the same.
   *
   * @default false
   */
  keepCounters?: boolean
  /**
   * Whether, in a cluster of Redis 7 or later, releases are told on sharded channels, as Redisson
   * tells them there. All clients that share locks must do the same. It needs ioredis 5.9 or later.
   *
   * @default true
   */
  shardedPubSub?: boolean
  /**
   * The longest that one command may take before its outcome counts as unknown, in milliseconds.
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
   * lease.
   *
   * @default off
   */
  watchdogThread?: boolean | WatchdogThreadOptions
}

export interface WatchdogThreadOptions {
  /**
   * When the main thread has been silent for this long, in milliseconds, the worker lets its leases
   * end: it may hang for good.
   *
   * @default 60_000
   */
  silenceLimitMs?: number
}

/** What `getLock` takes beside the name. */
export interface GetLockOptions {
  /**
   * The owner that all acquisitions through this object act for, from `holdfast.owner()`. Without
   * it the frame of the running code decides, and outside any frame each acquisition is an owner
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
  /** The longest wait in milliseconds. Without it the lock is tried once. */
  waitMs?: number
}

/** All of a client's options, each with a value. */
interface ResolvedOptions {
  readonly redis: HoldfastOptions['redis']
  readonly leaseMs: number
  readonly keyPrefix: string | undefined
  readonly label: string
  /** How long a token counter outlives its last use; 0 keeps it for good. */
  readonly counterMs: number
  readonly sharded: boolean
  readonly commandTimeoutMs: number
  readonly outageMs: number
  /** Undefined when the watchdog has no thread. */
  readonly silenceLimitMs: number | undefined
}

/** What a timer of Node.js can count. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** A counter outlives its last use by this long: a day. */
const COUNTER_MS = 86_400_000

const CLIENT_OPTIONS = [
  'redis',
  'leaseMs',
  'keyPrefix',
  'label',
  'keepCounters',
  'shardedPubSub',
  'commandTimeoutMs',
  'outageMs',
  'watchdogThread',
]

export function resolveOptions(options: HoldfastOptions): ResolvedOptions {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidArgumentError(
      `new Holdfast(options): options must be an object with \`redis\`; got ${show(options)}.`,
    )
  }
  assertKnown(Object.keys(options), CLIENT_OPTIONS)
  const { redis, keyPrefix, label = `${hostname()}:${process.pid}` } = options
  if (!isPlaceOfRedis(redis)) {
    throw new InvalidArgumentError(
      'new Holdfast(options): `redis` must be a redis:// URL, ioredis options, or an ' +
        `ioredis client; got ${show(redis)}.`,
    )
  }
  if (keyPrefix !== undefined && typeof keyPrefix !== 'string') {
    throw new InvalidArgumentError(`\`keyPrefix\` must be a string; got ${show(keyPrefix)}.`)
  }
  if (typeof label !== 'string') {
    throw new InvalidArgumentError(`\`label\` must be a string; got ${show(label)}.`)
  }
  const { keepCounters = false, shardedPubSub = true } = options
  for (const [name, value] of Object.entries({ keepCounters, shardedPubSub })) {
    if (typeof value === 'boolean') continue
    throw new InvalidArgumentError(`\`${name}\` must be true or false; got ${show(value)}.`)
  }
  const { leaseMs: lease = 30_000, commandTimeoutMs = 2_000, outageMs = 5_000 } = options
  const { watchdogThread = false } = options
  return {
    redis,
    keyPrefix,
    label,
    counterMs: keepCounters ? 0 : COUNTER_MS,
    sharded: shardedPubSub,
    leaseMs: leaseMs(lease, '`leaseMs`', LONGEST_TIMER_MS),
    commandTimeoutMs: wholeMs(commandTimeoutMs, '`commandTimeoutMs`', LONGEST_TIMER_MS),
    outageMs: wholeMs(outageMs, '`outageMs`', LONGEST_TIMER_MS),
    silenceLimitMs: silenceLimitMs(watchdogThread),
  }
}

function isPlaceOfRedis(redis: unknown): redis is HoldfastOptions['redis'] {
  if (typeof redis === 'object') return redis !== null && !Array.isArray(redis)
  if (typeof redis !== 'string' || redis === '' || /\s/.test(redis)) return false
  if (redis.includes('://')) return /^rediss?:/.test(redis) && URL.canParse(redis)
  return redis.startsWith('/') || URL.canParse(`redis://${redis}`)
}

function silenceLimitMs(thread: unknown): number | undefined {
  if (thread === false) return undefined
  if (thread === true) return 60_000
  if (typeof thread !== 'object' || thread === null) {
    throw new InvalidArgumentError(
      `\`watchdogThread\` must be true, false or { silenceLimitMs }; got ${show(thread)}.`,
    )
  }
  assertKnown(Object.keys(thread), ['silenceLimitMs'])
  const { silenceLimitMs = 60_000 } = thread as WatchdogThreadOptions
  return wholeMs(silenceLimitMs, '`watchdogThread.silenceLimitMs`', LONGEST_TIMER_MS)
}

/** How an acquisition is meant, from any of the forms of `lock`, `tryLock` and `using`. */
export interface Acquisition {
  readonly leaseMs: number | undefined
  /** 0 is not at all, Infinity without an end. */
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
}

/**
 * @param options what the user gave
 * @param known the options that the form takes
 * @param waitMs what holds where none is given
 */
export function resolveAcquisition(
  options: unknown,
  known: readonly (keyof TryLockOptions)[],
  waitMs: number,
): Acquisition {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidArgumentError(`Lock options must be an object; got ${show(options)}.`)
  }
  assertKnown(Object.keys(options), known)
  const given = options as TryLockOptions
  if (given.signal !== undefined && !(given.signal instanceof AbortSignal)) {
    throw new InvalidArgumentError(`\`signal\` must be an AbortSignal; got ${show(given.signal)}.`)
  }
  return {
    leaseMs: given.leaseMs === undefined ? undefined : leaseMs(given.leaseMs, '`leaseMs`'),
    waitMs: given.waitMs === undefined ? waitMs : wholeWaitMs(given.waitMs),
    signal: given.signal,
  }
}

function wholeWaitMs(value: unknown): number {
  if (value !== 0) return wholeMs(value, '`waitMs`')
  throw new InvalidArgumentError(
    '`waitMs` must be a positive whole number of milliseconds; got 0. To try once without waiting, leave it out: tryLock() or tryLock({ leaseMs }).',
  )
}
