import { hostname } from 'node:os'
import { InvalidArgumentError } from '../errors.ts'
import { show } from '../kit/show.ts'
import { LONGEST_TIMER_MS } from '../kit/timers.ts'
import { warn } from '../kit/warning.ts'
import { type Durability, durabilityOf } from './durability.ts'
import {
  assertMayKeep,
  boolean,
  keepMs,
  leaseMs,
  orNoLimit,
  text,
  timerMs,
  unchecked,
  waitMs,
  wholeMs,
} from './input.ts'
import type { HoldfastOptions } from './options.ts'
import { isClusterList, readSource, type Source } from './redis-source.ts'
import { showServer } from './redis-url.ts'
import { assertKnown, or, shape } from './shape.ts'
import { type ThreadSettings, threadOf } from './watchdog-thread.ts'

/** The checked options of a client. An option that the user did not give has its default. */
export interface Settings extends ThreadSettings {
  /** The server or cluster, or the independent masters. Empty if the locks are not in Redis. */
  readonly sources: readonly Source[]
  readonly isQuorum: boolean
  readonly longestLeaseMs: number
  readonly newDeployment: boolean
  readonly leaseMs: number
  /** The longest wait of calls without a `waitMs`, in milliseconds; Infinity means no limit. */
  readonly waitMs: number
  /**
   * The longest hold of calls without a `maxHoldMs`, in milliseconds; Infinity means no limit. Only
   * for renewed leases.
   */
  readonly maxHoldMs: number
  /** How long the client keeps a plain lock after its release, in milliseconds; 0 means not at all. */
  readonly keepMs: number
  readonly keyPrefix: string | undefined
  readonly label: string
  /** True if the client reports its identity to other clients. */
  readonly presence: boolean
  /** How long the server keeps a token counter after its last use, in milliseconds; 0 means forever. */
  readonly counterTtlMs: number
  readonly sharded: boolean
  readonly commandTimeoutMs: number
  readonly outageMs: number
  /** Returns how long a call with this `waitMs` retries in an outage, in milliseconds. */
  readonly patienceMs: (waitMs: number) => number
  /** The client warns about holds older than this, in milliseconds; undefined for no warnings. */
  readonly heldWarningMs: number | undefined
  /**
   * How many replicas must confirm an acquisition, and how fast. Undefined means that an
   * acquisition needs no confirmation.
   */
  readonly durability: Durability | undefined
}

/** The default of `counterTtlMs`, in milliseconds. */
const COUNTER_MS = 3_600_000

/**
 * How long a call retries in an outage if the client has no `outageMs`, in milliseconds. A call
 * with `waitMs` retries for this `waitMs`. The shortest time is 5 s, and the longest time is `most`.
 * A call without `waitMs` retries for `without`, which is longer than a usual failover.
 */
const PATIENCE_MS = { without: 30_000, most: 600_000 }

const CLIENT_OPTIONS = {
  // The value null means the default, as undefined does.
  longestLeaseMs: (value: unknown, what: string) =>
    value === null ? undefined : leaseMs(value, what),
  newDeployment: or(boolean, false),
  leaseMs: or((value, what) => leaseMs(value, what, LONGEST_TIMER_MS), 30_000),
  waitMs: or(waitMs('For no limit, use Infinity.'), Infinity),
  maxHoldMs: or(orNoLimit(leaseMs), Infinity),
  keepMs: or(keepMs, 0),
  keyPrefix: text,
  label: text,
  presence: or(boolean, true),
  keepCounters: or(boolean, false),
  counterTtlMs: wholeMs,
  shardedPubSub: or(boolean, true),
  commandTimeoutMs: timerMs,
  outageMs: timerMs,
  heldWarningMs: timerMs,
}

/** All options of a client, including the options that have a meaning only with Redis. */
const REDIS_OPTIONS = {
  redis: unchecked,
  masters: unchecked,
  watchdogThread: or(unchecked, false),
  durability: unchecked,
  ...CLIENT_OPTIONS,
}

const SUBJECT = 'The options of a client'
const readOptions = shape(SUBJECT, CLIENT_OPTIONS)
const readRedisOptions = shape(SUBJECT, REDIS_OPTIONS)

/**
 * The end of the error for an unknown option, if the options have neither `redis` nor `masters`. The
 * user may have passed a client or the options of Redis instead.
 */
const GIVEN_AS_REDIS =
  ' Give a URL, ioredis options or a client as `redis`: new Holdfast({ redis: ... }).'

/**
 * Checks all options, and adds their defaults.
 *
 * @param isElsewhere true if the locks are not in Redis
 */
export function resolveOptions(options: HoldfastOptions, isElsewhere = false): Settings {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidArgumentError(
      `new Holdfast(options): options must be an object with \`redis\`; got ${showServer(options)}.`,
    )
  }
  if (!isElsewhere && !('redis' in options || 'masters' in options)) {
    assertKnown(Object.keys(options), Object.keys(REDIS_OPTIONS), GIVEN_AS_REDIS)
  }
  const given = isElsewhere
    ? { ...readRedisOptions({}), ...readOptions(options) }
    : readRedisOptions(options)
  const { masters, watchdogThread, keepCounters, leaseMs } = given
  const sources = isElsewhere ? [] : sourcesOf(given)
  if (masters !== undefined && watchdogThread !== false) {
    // The thread renews leases on one server only, and one master cannot prove a lease.
    throw new InvalidArgumentError('`watchdogThread` cannot be combined with `masters` yet.')
  }
  if (keepCounters && given.counterTtlMs !== undefined) {
    throw new InvalidArgumentError('Give either `keepCounters` or `counterTtlMs`; got both.')
  }
  assertMayKeep(given.keepMs, masters !== undefined, given.durability !== undefined)
  const { longestLeaseMs = 2 * leaseMs } = given
  if (longestLeaseMs < leaseMs) {
    throw new InvalidArgumentError(
      `\`longestLeaseMs\` must not be below \`leaseMs\`, which is ${leaseMs}; got ${longestLeaseMs}.`,
    )
  }
  const { label = `${hostname()}:${process.pid}` } = given
  return {
    sources,
    isQuorum: masters !== undefined,
    newDeployment: given.newDeployment,
    longestLeaseMs,
    keyPrefix: given.keyPrefix,
    label,
    presence: given.presence,
    counterTtlMs: given.counterTtlMs ?? (keepCounters ? 0 : COUNTER_MS),
    sharded: given.shardedPubSub,
    leaseMs,
    waitMs: given.waitMs,
    maxHoldMs: given.maxHoldMs,
    keepMs: given.keepMs,
    ...timeLimits(given),
    ...threadOf(watchdogThread),
    heldWarningMs: given.heldWarningMs,
    durability: durabilityOf(given.durability, masters !== undefined, leaseMs),
  }
}

let isWarnedOfOneTry = false

function timeLimits(
  given: ReturnType<typeof readOptions>,
): Pick<Settings, 'commandTimeoutMs' | 'outageMs' | 'patienceMs'> {
  const { commandTimeoutMs = 2_000, outageMs = 5_000 } = given
  const patienceMs = (waitMs: number) => {
    if (given.outageMs !== undefined) return outageMs
    if (waitMs === Infinity) return PATIENCE_MS.without
    return Math.min(Math.max(waitMs, outageMs), PATIENCE_MS.most)
  }
  const isOneTry = given.commandTimeoutMs !== undefined && commandTimeoutMs > outageMs
  if (isOneTry && !isWarnedOfOneTry) {
    isWarnedOfOneTry = true
    warn(
      'HOLDFAST_ONE_TRY',
      `\`commandTimeoutMs\` (${commandTimeoutMs}) is larger than \`outageMs\` (${outageMs}). If a command is not ` +
        `answered, the call rejects after ${outageMs} ms, without a second try. Use a \`commandTimeoutMs\` well below ` +
        '`outageMs`.',
    )
  }
  return { commandTimeoutMs, outageMs, patienceMs }
}

function sourcesOf({ redis, masters }: { redis: unknown; masters: unknown }): Source[] {
  if (masters === undefined) {
    return [readSource(redis, 'new Holdfast(options): `redis`')]
  }
  if (redis !== undefined) {
    throw new InvalidArgumentError('Give either `redis` or `masters`; got both.')
  }
  if (!Array.isArray(masters) || masters.length === 0) {
    throw new InvalidArgumentError(
      `\`masters\` must be a list of servers; got ${showServer(masters)}.`,
    )
  }
  return (masters as unknown[]).map((master) => {
    const source = readSource(master, 'Each of `masters`')
    const isCluster =
      typeof source === 'object' &&
      (isClusterList(source) || ('isCluster' in source && source.isCluster))
    if (!isCluster) return source
    throw new InvalidArgumentError(
      `Each of \`masters\` must be one server; got ${show(master)}, a cluster.`,
    )
  })
}
