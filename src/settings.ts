import { hostname } from 'node:os'
import { type Durability, durabilityOf } from './durability.ts'
import { InvalidArgumentError, show } from './errors.ts'
import { assertKnown, leaseMs, waitMs, wholeMs } from './input.ts'
import { LONGEST_TIMER_MS } from './kit/timers.ts'
import type { HoldfastOptions, WatchdogThreadOptions } from './options.ts'
import { assertSource, type Source } from './redis-source.ts'

/** All of a client's options, each with a value. */
export interface Settings {
  /** One server, or independent masters; none where the locks live elsewhere. */
  readonly sources: readonly Source[]
  readonly isQuorum: boolean
  readonly longestLeaseMs: number
  readonly newDeployment: boolean
  readonly leaseMs: number
  /** The longest wait where a call gives none; Infinity is without an end. */
  readonly waitMs: number
  readonly keyPrefix: string | undefined
  readonly label: string
  /** How long a token counter outlives its last use; 0 keeps it for good. */
  readonly counterTtlMs: number
  readonly sharded: boolean
  readonly commandTimeoutMs: number
  readonly outageMs: number
  /** Undefined when the watchdog has no thread. */
  readonly silenceLimitMs: number | undefined
  /** Undefined where an acquisition counts when the master has it. */
  readonly durability: Durability | undefined
}

/** A counter outlives its last use by this long: an hour. */
const COUNTER_MS = 3_600_000

/** Those that need a server of Redis. */
const REDIS_OPTIONS = ['redis', 'masters', 'watchdogThread', 'durability']

const CLIENT_OPTIONS = [
  'longestLeaseMs',
  'newDeployment',
  'leaseMs',
  'waitMs',
  'keyPrefix',
  'label',
  'keepCounters',
  'counterTtlMs',
  'shardedPubSub',
  'commandTimeoutMs',
  'outageMs',
]

/** @param isElsewhere whether the locks live neither on one server of Redis nor on several */
export function resolveOptions(options: HoldfastOptions, isElsewhere = false): Settings {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidArgumentError(
      `new Holdfast(options): options must be an object with \`redis\`; got ${show(options)}.`,
    )
  }
  assertKnown(
    Object.keys(options),
    isElsewhere ? CLIENT_OPTIONS : [...REDIS_OPTIONS, ...CLIENT_OPTIONS],
  )
  const { keyPrefix, label = `${hostname()}:${process.pid}` } = options
  const sources = isElsewhere ? [] : sourcesOf(options)
  if (keyPrefix !== undefined && typeof keyPrefix !== 'string') {
    throw new InvalidArgumentError(`\`keyPrefix\` must be a string; got ${show(keyPrefix)}.`)
  }
  if (typeof label !== 'string') {
    throw new InvalidArgumentError(`\`label\` must be a string; got ${show(label)}.`)
  }
  const { keepCounters = false, shardedPubSub = true, newDeployment = false } = options
  for (const [name, value] of Object.entries({ keepCounters, shardedPubSub, newDeployment })) {
    if (typeof value === 'boolean') continue
    throw new InvalidArgumentError(`\`${name}\` must be true or false; got ${show(value)}.`)
  }
  const { leaseMs: lease = 30_000, commandTimeoutMs = 2_000, outageMs = 5_000 } = options
  const { waitMs: wait = Infinity } = options
  const { watchdogThread = false } = options
  if (options.masters !== undefined && watchdogThread !== false) {
    // The thread asks one server, and one of several proves nothing.
    throw new InvalidArgumentError('`watchdogThread` does not go together with `masters` yet.')
  }
  const ownLeaseMs = leaseMs(lease, '`leaseMs`', LONGEST_TIMER_MS)
  return {
    sources,
    isQuorum: options.masters !== undefined,
    newDeployment,
    longestLeaseMs: longestLeaseMs(options, ownLeaseMs),
    keyPrefix,
    label,
    counterTtlMs: counterTtlMs(keepCounters, options.counterTtlMs),
    sharded: shardedPubSub,
    leaseMs: ownLeaseMs,
    waitMs: waitMs(wait, 'Without an end it is Infinity.'),
    commandTimeoutMs: wholeMs(commandTimeoutMs, '`commandTimeoutMs`', LONGEST_TIMER_MS),
    outageMs: wholeMs(outageMs, '`outageMs`', LONGEST_TIMER_MS),
    silenceLimitMs: silenceLimitMs(watchdogThread),
    durability: durabilityOf(
      options.durability,
      options.masters !== undefined,
      Math.min(ownLeaseMs - 1, LONGEST_TIMER_MS),
    ),
  }
}

function counterTtlMs(keepCounters: boolean, ttlMs: number | undefined): number {
  if (ttlMs === undefined) return keepCounters ? 0 : COUNTER_MS
  if (!keepCounters) return wholeMs(ttlMs, '`counterTtlMs`')
  throw new InvalidArgumentError('Give either `keepCounters` or `counterTtlMs`; got both.')
}

function sourcesOf({ redis, masters }: HoldfastOptions): Source[] {
  if (masters === undefined) {
    assertSource(redis, 'new Holdfast(options): `redis`')
    return [redis]
  }
  if (redis !== undefined) {
    throw new InvalidArgumentError('Give either `redis` or `masters`; got both.')
  }
  if (!Array.isArray(masters) || masters.length === 0) {
    throw new InvalidArgumentError(`\`masters\` must be a list of servers; got ${show(masters)}.`)
  }
  return (masters as unknown[]).map((master) => {
    assertSource(master, 'Each of `masters`')
    if (typeof master === 'string' || !('isCluster' in master && master.isCluster)) return master
    throw new InvalidArgumentError(
      `Each of \`masters\` must be one server; got ${show(master)}, a client of a cluster.`,
    )
  })
}

function longestLeaseMs(options: HoldfastOptions, ownLeaseMs: number): number {
  const longest = leaseMs(options.longestLeaseMs ?? 2 * ownLeaseMs, '`longestLeaseMs`')
  if (longest >= ownLeaseMs) return longest
  throw new InvalidArgumentError(
    `\`longestLeaseMs\` must not be below \`leaseMs\`, which is ${ownLeaseMs}; got ${longest}.`,
  )
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
