import type { KindName } from '../diagnostics.ts'
import type { Words } from '../errors.ts'

export interface HoldKind {
  /** The name of the kind for observers. */
  readonly name: KindName
  /** True if several owners may hold the lock at once, each with a hold of this kind. */
  readonly isShared: boolean
  /** Set if acquisitions are independent, as for permits. An owner then never re-enters a hold. */
  readonly isCounted?: true
  /**
   * Set if the waiters of this kind do not wait behind the client's waiters of other kinds, because
   * the server decides their order.
   */
  readonly waitsAside?: true
  /** The words for this kind in error messages. Undefined for the words of a lock. */
  readonly words?: Words
  /** How many permits each hold has; undefined for locks. */
  readonly permits?: number
  /**
   * Set if the leases of this kind have their own renewal requests. The renewal thread does not
   * renew these leases.
   */
  readonly renewal?: object | undefined
}
