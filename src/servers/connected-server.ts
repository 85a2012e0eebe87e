import type { CallFailure } from './call-failure.ts'
import type { ServerWords } from './server-words.ts'

/** The connection of one client to a server, to several masters or to memory. */
export interface ConnectedServer {
  /**
   * Returns an id of the server. Usually all clients read the same id while the server runs. Null
   * if the server reports no id.
   */
  identify(callMs: number): Promise<string | null>
  /**
   * Why a lock on this server cannot be a vote of a RedLock. The words follow the name of the lock
   * in an error. Null if the lock can be a vote.
   */
  readonly whyNoVote: string | null
  readonly words: ServerWords
  /** How long the server may still run a request after the request's deadline, in milliseconds. */
  readonly lateAtMostMs: number
  /**
   * The address of a single server, for messages. It contains no login. Undefined for several
   * servers.
   */
  readonly address?: string
  /**
   * Why the server is unreachable. Undefined if the server is reachable or its state is unknown.
   */
  readonly whyDown: CallFailure | undefined
  /**
   * True if this client has ever reached the server. A server in memory returns false only during
   * an outage.
   */
  readonly everUp: boolean
  /**
   * Calls `onUp` after each new connection, even if it leads to another server. A cluster also calls
   * `onUp` if keys may be missing or at another node. A server in memory calls `onUp` after an outage.
   * The returned function removes the callback.
   */
  onUp(onUp: () => void): () => void
  connect(): void
  disconnect(): void
}
