import { LOCK_WORDS, type ServerKind } from './server-kind.ts'
import type { Subscription } from './subscription.ts'

/** Announces the new leaders of one election to all clients that listen. */
export interface ElectionChannel {
  /** Tells all listeners that a candidate now leads, with this fencing token. */
  announce(token: number, callMs: number): Promise<unknown>
  /** Calls `onChange` at each announcement, and when this client may have missed announcements. */
  listen(onChange: () => void): Subscription
}

export const ELECTION: ServerKind<(rawName: string) => ElectionChannel> = {
  name: 'election',
  what: LOCK_WORDS,
}
