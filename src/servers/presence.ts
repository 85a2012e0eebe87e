import type { Notes } from '../diagnostics.ts'
import type { ClientInfo } from '../errors.ts'

export type { ClientInfo } from '../errors.ts'

/** What a client has to tell. */
export interface OwnInfo {
  readonly info: ClientInfo
  /** To which it renews leases as a rule, in milliseconds. */
  readonly leaseMs: number
  /** Whether it tells anything, or only asks. */
  readonly tells: boolean
}

/** What one client tells others at a place about itself, and what they tell. No lock depends on it. */
export interface Presence extends Notes {
  /** It has leases that are renewed to so many milliseconds: it is to be known for longer than that. */
  renews(leaseMs: number): void
  /** Who a client is; null where that is not known. Rejects with a `CallFailure` and nothing else. */
  clientInfo(clientId: string, callMs: number): Promise<ClientInfo | null>
  /** The client is closed: others are to know it no more. The servers may stay open. */
  close(): void
}

/** Its id, of a client or of one of its owners. */
export function clientIdOf(clientOrOwner: string): string {
  return clientOrOwner.split(':', 1)[0] as string
}
