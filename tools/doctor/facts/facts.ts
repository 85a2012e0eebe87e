import type { WireFormat } from '../../../src/index.ts'

/** The answer of a server to one request, or the reason why there is no answer. */
export type Fact<T> = { readonly value: T } | { readonly unknown: string }

/** The fact for a request that was not sent. The report does not list this fact as unknown. */
export const NOT_ASKED: Fact<never> = { unknown: 'not asked' }

export function answerOf<T>(fact: Fact<T>): T | undefined {
  return 'value' in fact ? fact.value : undefined
}

/**
 * Calls `send`, and returns its answer as a fact. Never rejects: an error becomes an unknown fact,
 * because the report shows the reason.
 */
export async function factOf<T>(send: () => Promise<T>): Promise<Fact<T>> {
  try {
    return { value: await send() }
  } catch (error) {
    return { unknown: (error as Error).message }
  }
}

/** The values of `INFO`, `CONFIG GET` and similar commands, by name. */
export type Names = Readonly<Record<string, string | undefined>>

/** The clock of a server and its response times, measured with several requests. */
export interface ClockFacts {
  readonly samples: number
  readonly fastestMs: number
  readonly medianMs: number
  readonly slowestMs: number
  /**
   * The server time minus the local time, in milliseconds, measured with the fastest answer. The
   * error is at most `boundMs`.
   */
  readonly aheadMs: number
  readonly boundMs: number
}

/**
 * The result of a scan of keys. The lists of keys contain only the first keys that the scan found.
 */
export interface KeyFacts {
  readonly looked: number
  /** True if the scan examined all keys of the server. */
  readonly all: boolean
  /** The keys of held locks without a TTL. */
  readonly locks: readonly string[]
  /**
   * Token counters without a TTL. Redisson, and clients with `keepCounters`, keep such counters
   * forever.
   */
  readonly counters: readonly string[]
  /** Other keys that normally expire, but have no TTL. */
  readonly others: readonly string[]
  /**
   * The wire formats that clients report, each once. Null stands for clients that report no format.
   */
  readonly wireFormats: readonly (WireFormat | null)[]
}

/** The rights that the login lacks for one purpose: a kind of lock, or a feature such as `presence`. */
export interface MissingRights {
  readonly kind: string
  readonly commands: readonly string[]
  readonly patterns: readonly string[]
}

export interface RightsFacts {
  readonly user: string
  readonly by: 'ACL DRYRUN' | 'a lock'
  readonly missing: readonly MissingRights[]
  /** The error of the test lock; undefined if the test lock worked or was not needed. */
  readonly refusal: string | undefined
}

/** A server that has locks, or a replica that may take over. */
export interface ServerFacts {
  readonly address: string
  /** The `redis-cli` command for this server. */
  readonly cli: string
  /**
   * The role of the server as the user, the Sentinels or the cluster states it. `INFO` may report
   * another role.
   */
  readonly as: 'master' | 'replica'
  /** The reason why the server could not be reached. Undefined if the server was reached. */
  readonly unreachable: string | undefined
  readonly info: Fact<Names>
  readonly config: Fact<Names>
  readonly clock: Fact<ClockFacts>
  readonly rights: Fact<RightsFacts>
  readonly keys: Fact<KeyFacts>
}

export interface SentinelFacts {
  readonly address: string
  readonly cli: string
  readonly unreachable: string | undefined
  /** The values of `SENTINEL MASTER`. */
  readonly master: Fact<Names>
}

export interface ClusterNode {
  readonly id: string
  readonly address: string
  readonly flags: readonly string[]
  readonly slots: number
}

export interface ClusterFacts {
  readonly info: Fact<Names>
  readonly nodes: Fact<readonly ClusterNode[]>
}

/**
 * The options of the clients that use these servers. The user does not give all options, so the
 * doctor assumes the other values.
 */
export interface ClientTerms {
  readonly leaseMs: number
  readonly longestLeaseMs: number
  readonly commandTimeoutMs: number
  readonly outageMs: number
  readonly keyPrefix: string
  /** The number of replicas that each acquisition waits for. 0 for no wait. */
  readonly durability: number | 'all'
}

export interface DeploymentFacts {
  readonly deployment: 'server' | 'masters' | 'cluster' | 'sentinel'
  readonly terms: ClientTerms
  readonly servers: readonly ServerFacts[]
  readonly sentinels: readonly SentinelFacts[]
  readonly cluster: ClusterFacts | undefined
}
