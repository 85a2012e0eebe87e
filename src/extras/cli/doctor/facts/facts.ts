import type { WireFormat } from '../../../../index.ts'

/** Something that was asked of a server: the answer, or why there is none. */
export type Fact<T> = { readonly value: T } | { readonly unknown: string }

/** Of what was not to be looked at: no news to anybody. */
export const NOT_ASKED: Fact<never> = { unknown: 'not asked' }

/** What is known of it; undefined where nothing is. */
export function answerOf<T>(fact: Fact<T>): T | undefined {
  return 'value' in fact ? fact.value : undefined
}

/** Asks, and keeps a refusal as what it is: something to report. */
export async function factOf<T>(ask: () => Promise<T>): Promise<Fact<T>> {
  try {
    return { value: await ask() }
  } catch (error) {
    return { unknown: (error as Error).message }
  }
}

/** What `INFO`, `CONFIG GET` or `CLUSTER INFO` tells, by name. */
export type Names = Readonly<Record<string, string | undefined>>

/** The clock of a server, and how far away it is, by several questions one after the other. */
export interface ClockFacts {
  readonly samples: number
  readonly fastestMs: number
  readonly medianMs: number
  readonly slowestMs: number
  /** The server's time less ours, by the fastest answer; off by `boundMs` at most. */
  readonly aheadMs: number
  readonly boundMs: number
}

/** Keys that Holdfast or Redisson makes, and that have no TTL although they should. */
export interface KeyFacts {
  readonly looked: number
  /** Whether that were all keys there are. */
  readonly all: boolean
  /** Holds that never end by themselves. */
  readonly locks: readonly string[]
  /** Counters of fencing tokens: `keepCounters` and Redisson keep them for good. */
  readonly counters: readonly string[]
  /** Other keys that end by themselves as a rule. */
  readonly others: readonly string[]
  /** The wire formats that clients report, each once; null is that of versions before there were reports. */
  readonly wireFormats: readonly (WireFormat | null)[]
}

/** What one kind of lock cannot do, for want of rights. */
export interface MissingRights {
  readonly kind: string
  readonly commands: readonly string[]
  readonly patterns: readonly string[]
}

export interface RightsFacts {
  readonly user: string
  readonly by: 'ACL DRYRUN' | 'a lock'
  readonly missing: readonly MissingRights[]
  /** What Redis said when a lock was tried. */
  readonly refusal: string | undefined
}

/** A server that has locks, or may come to have them. */
export interface ServerFacts {
  readonly address: string
  /** The `redis-cli` that leads there. */
  readonly cli: string
  /** What it is meant to be. */
  readonly as: 'master' | 'replica'
  /** Why nothing is known of it. */
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
  /** What `SENTINEL MASTER` tells. */
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

/** What the client is told that is looked for. */
export interface Terms {
  readonly leaseMs: number
  readonly longestLeaseMs: number
  readonly commandTimeoutMs: number
  readonly outageMs: number
  readonly keyPrefix: string
  /** How many replicas each acquisition waits for; none is 0. */
  readonly durability: number | 'all'
}

export interface Facts {
  readonly place: 'server' | 'masters' | 'cluster' | 'sentinel'
  readonly terms: Terms
  readonly servers: readonly ServerFacts[]
  readonly sentinels: readonly SentinelFacts[]
  readonly cluster: ClusterFacts | undefined
}
