import type { KindName } from '../diagnostics.ts'
import type { Words } from '../errors.ts'

export interface HoldKind {
  /** The name of the kind for observers. */
  readonly name: KindName
  /** True if several owners may hold the lock at the same time, each with a hold of this kind. */
  readonly isShared: boolean
  /**
   * Set if each acquisition makes its own hold, as for permits. An owner then never re-enters a
   * hold.
   */
  readonly isCounted?: true
  /**
   * Set if the server decides the order of the waiters of this kind. In this client, such waiters
   * do not wait behind waiters of other kinds.
   */
  readonly waitsAside?: true
  /** The words for this kind in error messages; by default the words for a lock. */
  readonly words?: Words
  /** The number of permits of each hold; undefined for locks. */
  readonly permits?: number
  /**
   * Set if the client renews the leases of this kind by separate requests. The watchdog thread does
   * not renew these leases.
   */
  readonly renewal?: object | undefined
}
