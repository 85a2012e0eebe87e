import type { RowKind } from '../../../kinds/all.ts'
import type { BareHolder, Concluded } from '../../../kinds/concluded.ts'
import type { Answers, FoundKey, Requests } from '../answers.ts'

/** The values for a release by force. Each kind makes its script runs from these values. */
export interface ForceTerms {
  readonly key: string
  /** The owner id of the holder, or the id of one permit. */
  readonly owner: string
  readonly token: number | null
  /** If the release raises the counter, every later token is above this number. */
  readonly floor: number
  readonly publish: 'PUBLISH' | 'SPUBLISH'
  /**
   * For how long each master remembers that the owner lost the lock, in milliseconds; 0 for a
   * single server.
   */
  readonly forcedMs: number
}

/** One run of a script of `lua/admin/`. */
export interface ForceRun {
  readonly script: 'takeLock' | 'takePermit' | 'takeReadWrite'
  readonly keys: readonly string[]
  readonly args: readonly (string | number)[]
}

/**
 * The rights that one kind of lock needs. A test compares these rights with docs/reference/acl.md.
 */
export interface Needs {
  readonly kind: string
  /** The commands to test with `ACL DRYRUN`, with arguments as this kind sends them. */
  readonly commands: readonly (readonly string[])[]
  /** The patterns of the keys of the kind, as `~pattern`, and of its channels, as `&pattern`. */
  readonly patterns: readonly string[]
}

/** Keys, prefixes and patterns. A kind uses them to list the ACL rights that the kind needs. */
export interface RightNames {
  /** The key of an unused lock. */
  readonly lock: string
  readonly keyPrefix: string
  /** Returns the patterns of all keys that begin with these prefixes. */
  own(...prefixes: string[]): string[]
  /** Returns the pattern of all channels that begin with this prefix. */
  channel(prefix: string): string
}

/** How the tools find and read one kind in Redis. Each kind has one file in this folder. */
export interface KeyKind {
  readonly kind: RowKind
  /**
   * The prefixes of keys that contain the name of a lock. If such a key exists, the lock may exist.
   */
  readonly named: readonly string[]
  /** The prefixes of keys that should expire. */
  readonly expiring: readonly string[]
  /**
   * Returns the requests that read a lock of this kind. If several kinds send the same request,
   * they may give it the same name.
   */
  requests?(found: FoundKey): Requests
  /** Returns further requests that depend on the first answers. */
  moreRequests?(answers: Answers): Requests
  /** @returns the holders and waiters of a name of this kind; null for a name of another kind */
  conclude(answers: Answers): Concluded | null
  /**
   * Returns the script runs that end the hold of the owner, in their order. Left out for kinds
   * whose holders cannot lose a lock by force.
   *
   * @param holders the current holders
   */
  force?(terms: ForceTerms, holders: readonly BareHolder[]): readonly ForceRun[]
  rights?(names: RightNames): Needs
}
