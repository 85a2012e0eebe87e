import type { KindName } from '../diagnostics.ts'
import type { Words } from '../errors.ts'

/** The properties that all holds of one kind of lock share. */
export interface HoldKind {
  /** The name of the kind in facts of the diagnostics channels. */
  readonly name: KindName
  /** True if several owners may hold the lock at once, each with a hold of this kind. */
  readonly isShared: boolean
  /** Set if acquisitions are independent, as for permits. An owner then never re-enters a hold. */
  readonly isCounted?: true
  /**
   * Set if the waiters of this kind have a separate line in the client, because the server orders
   * the waiters of all kinds.
   */
  readonly waitsAside?: true
  /** The words for this kind in error messages. Undefined for the words of a lock. */
  readonly words?: Words
  /**
   * The end of the owner ids of this kind, which scripts read. For permits, the number of permits.
   * Undefined for no suffix.
   */
  readonly nameSuffix?: string
  /** Set if separate requests renew the leases of this kind. No stand-in renews these leases. */
  readonly renewal?: object | undefined
}
