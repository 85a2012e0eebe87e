import type { Owner } from '../../owner/owner.ts'
import type { LockAccess } from '../lock/lock-access.ts'

/** One of the locks that are to be had together, and who is to have it. */
export interface Wanted {
  readonly access: LockAccess
  readonly owner: Owner
}
