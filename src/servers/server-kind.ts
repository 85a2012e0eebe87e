import type { PendingReleases } from './pending-releases.ts'
import type { RecordStore } from './record-store.ts'

/**
 * A kind of lock, latch, semaphore or barrier that not every server supports. `R` is the interface
 * to its requests, for one client.
 */
export interface ServerKind<R extends object> {
  /**
   * The name of the kind. A Redis server uses this name to find its own requests for the kind.
   */
  readonly name: string
  /** Returns the requests for a server without scripts, which stores records. */
  onRecords(client: RecordClient): R
}

/** The client that uses a kind. */
export interface KindClient {
  readonly clientId: string
  readonly label: string
  /** For how long the client repeats a failed request, in milliseconds. */
  readonly outageMs: number
}

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
