import type { KindName } from '../diagnostics.ts'
import type { Words } from '../errors.ts'

/** The properties that all holds of one kind of lock share. */
export interface HoldKind {
  /** The name in facts of the diagnostics channels. */
  readonly name: KindName
  /** True if several owners may hold the lock at once, each with a hold of this kind. */
  readonly isShared: boolean
  /** Set if acquisitions are independent, as with permits. They never re-enter each other. */
  readonly isCounted?: true
  /**
   * Set if the waiters of this kind have a separate line. The server orders them with the waiters
   * of other kinds, so the client need not.
   */
  readonly waitsAside?: true
  /** The words of error messages for this kind; undefined for a lock. */
  readonly words?: Words
  /** The end of the owner ids of this kind, such as a number of permits that scripts read. */
  readonly nameSuffix?: string
  /**
   * Set if the leases of this kind are renewed by separate requests. No stand-in sends these
   * requests.
   */
  readonly renewal?: object | undefined
}
