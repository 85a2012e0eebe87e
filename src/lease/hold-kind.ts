import type { KindName } from '../diagnostics.ts'
import type { Words } from '../errors.ts'

/** What a kind of lock says of its holds. */
export interface HoldKind {
  /** What facts call it. */
  readonly name: KindName
  /** Whether several owners may have the lock at once, each with a hold of that kind. */
  readonly isShared: boolean
  /** Set where each acquisition is for itself, and none re-enters another: permits. */
  readonly isCounted?: true
  /**
   * Set if its waiters are in a line of their own, and keep none of their client waiting who wants another kind: its place
   * knows the order of both.
   */
  readonly waitsAside?: true
  /** How errors speak of what is held; left out where it is a lock. */
  readonly words?: Words
  /** What the names of its owners end with at their place. */
  readonly nameSuffix?: string
  /** Set where its leases are renewed by requests of their own, which no stand-in sends. */
  readonly renewal?: object | undefined
}
