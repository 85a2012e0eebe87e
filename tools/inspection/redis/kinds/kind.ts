import type { RowKind } from '../../../kinds/all.ts'
import type { BareHolder, Concluded } from '../../conclude.ts'
import type { Answers, FoundKey, Requests } from '../answers.ts'

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
  force?(terms: ForceTerms, holders: readonly BareHolder[]): readonly ForceRun[]
  rights?(names: RightNames): Needs
}
