import type { PendingReleases } from '../pending-releases.ts'
import type { RecordStore } from '../record-store.ts'
import type { KindClient } from '../server-kind.ts'

/** Makes the requests of one kind for a client of a server that stores records. */
export type RecordKind<R extends object> = (client: RecordClient) => R

/** The kinds on servers without scripts, by name. */
export type RecordKinds = ReadonlyMap<string, RecordKind<object>>

/** A client of a server that stores records. */
export interface RecordClient extends KindClient {
  readonly store: RecordStore
  /** How long the server remembers a token after its last use, in milliseconds; 0 means forever. */
  readonly counterMs: number
  readonly pendingReleases: PendingReleases
  /** How long a request in the background may take, in milliseconds. */
  readonly callMs: number
  /** Calls `work` when the client closes. The client waits for the promise. */
  beforeClose(work: () => Promise<void>): void
}
