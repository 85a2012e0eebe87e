import type { RowKind } from '../../../kinds/all.ts'
import type { CountFacts } from '../../../kinds/kind.ts'
import type { RedisCommand } from '../../../servers/open-server.ts'
import type { HolderRow, LockDetail, WaiterRow } from '../../inspection.ts'
import type { Answers, FoundKey } from '../answers.ts'

export type { FoundKey } from '../answers.ts'

/** Requests by the names of their answers. */
export type Requests = Readonly<Record<string, RedisCommand>>

export type KeyHolder = Omit<HolderRow, 'process'>
export type KeyWaiter = Omit<WaiterRow, 'process'>

/** One lock, without the processes of its holders and waiters. */
export type KeyDetail = Omit<LockDetail, 'holders' | 'queue'> & {
  readonly holders: readonly KeyHolder[]
  readonly queue: readonly KeyWaiter[]
}

/** One name of one kind, as its keys describe it. */
export interface Concluded {
  readonly holders?: readonly KeyHolder[]
  /** The waiters, in the order of the queue. */
  readonly queue?: readonly KeyWaiter[]
  /** The mode of a read-write lock that is held. */
  readonly mode?: string | undefined
  readonly count?: CountFacts | null
  /** False if the number of permits of a semaphore is not set. Default: true. */
  readonly isSet?: boolean
  /** The number of clients that listen to the channel of the lock. Default: 0. */
  readonly listeners?: number
}

/** A release by force, before its script is chosen. */
export interface ForceTerms {
  readonly key: string
  /** The holder, or the id of one permit. */
  readonly owner: string
  readonly token: number | null
  /** Every later token is above this number. */
  readonly floor: number
  readonly publish: 'PUBLISH' | 'SPUBLISH'
  /** For how long a master remembers the owner, in milliseconds; 0 for a single server. */
  readonly forcedMs: number
}

/** One run of a script of `lua/admin/`. */
export interface ForceRun {
  readonly script: 'takeLock' | 'takePermit' | 'takeReadWrite'
  readonly keys: readonly string[]
  readonly args: readonly (string | number)[]
}

/** The rights that one kind of lock needs. A test compares them with docs/reference/keys.md. */
export interface Needs {
  readonly kind: string
  /** The commands for `ACL DRYRUN`, with arguments as this kind sends them. */
  readonly commands: readonly (readonly string[])[]
  /** Keys as `~pattern`, each for reading and writing, and channels as `&pattern`. */
  readonly patterns: readonly string[]
}

/** The names with which rights are checked. */
export interface RightNames {
  /** The key of an unused lock. */
  readonly lock: string
  readonly keyPrefix: string
  /** Patterns of the keys of all locks with these prefixes. */
  own(...prefixes: string[]): string[]
  /** The pattern of the channels of all locks with this prefix. */
  channel(prefix: string): string
}

/** The keys of one kind in Redis. Each kind has one file in this folder. */
export interface KeyKind {
  readonly kind: RowKind
  /** The prefixes of keys that contain the name of a lock and prove that it exists. */
  readonly named: readonly string[]
  /** The prefixes of keys that normally expire. */
  readonly expiring: readonly string[]
  /** The requests that read the kind. Kinds may share a name for the same request. */
  requests?(found: FoundKey): Requests
  /** Further requests, which depend on the answers to the first requests. */
  moreRequests?(answers: Answers): Requests
  /** @returns the holders and waiters of a name of this kind; null for a name of another kind */
  conclude(answers: Answers): Concluded | null
  /**
   * Returns the runs that end the hold of the owner, one after the other. Left out if no holder can
   * lose the lock by force.
   *
   * @param holders the current holders
   */
  force?(terms: ForceTerms, holders: readonly KeyHolder[]): readonly ForceRun[]
  rights?(names: RightNames): Needs
}
