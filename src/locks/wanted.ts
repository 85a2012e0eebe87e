import type { Owner } from '../owner/owner.ts'
import type { Access } from './access.ts'

/** One of the locks that are to be had together, and who is to have it. */
export interface Wanted {
  readonly access: Access
  readonly owner: Owner
}
