import type { CallFailure } from '../../call-failure.ts'

/** What is known of the server behind a connection that is up. */
export interface ServerFacts {
  /** Of its version; NaN when it does not tell. */
  readonly major: number
  /** The id of its process; '' when it does not tell. */
  readonly runId: string
  /**
   * The server's clock less `performance.now()` at the most, in milliseconds; NaN when it does not
   * tell. It is at least `clockDoubtMs` less.
   */
  readonly clockOffsetMs: number
  /** How long the server's answer was under way, in milliseconds. */
  readonly clockDoubtMs: number
}

/** What a connection tells. */
export interface ConnectionEvents {
  up(facts: ServerFacts): void
  /** Of a cluster: some keys may be at another server by now, or at one that was emptied. */
  moved?(): void
  down(): void
  /** An attempt to connect has failed, or the server gives no answer, or is not ready for commands. */
  error(failure: CallFailure): void
  /** After that the server has answered on the same connection. */
  answered?(): void
  /** The same of one node of a cluster. */
  nodeFailed?(address: string, failure: CallFailure): void
  nodeUp?(address: string): void
  /** A cluster has named the nodes that it is made of. */
  nodesListed?(addresses: ReadonlySet<string>): void
}
