import type { KindName } from '../diagnostics.ts'
import type { Words } from '../errors.ts'

/** The properties that all holds of one kind of lock share. */
export interface HoldKind {
  /** The name in facts of the diagnostics channels. */
  readonly name: KindName
  /** True if several owners may hold the lock at once, each with a hold of this kind. */
  readonly isShared: boolean
  /** Set if acquisitions are independent, as with permits: none re-enters another. */
  readonly isCounted?: true
  /**
   * Set if its waiters have a line of their own. They do not delay waiters of their client for
   * other kinds, because the server knows the order of both.
   */
  readonly waitsAside?: true
  /** The words of error messages for this kind; undefined for a lock. */
  readonly words?: Words
  /** The end of its owner names in Redis, such as a number of permits that scripts read. */
  readonly nameSuffix?: string
  /** Set if its leases are renewed by their own requests, which no stand-in sends. */
  readonly renewal?: object | undefined
}
