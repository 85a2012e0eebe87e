/** The arguments of scripts that the connection provides, and not the caller. */
export interface Terms {
  /** The server time in µs after which the current request must not run; 0 means no limit. */
  readonly notAfterUs: number
  /** How long a token counter outlives its last use, in milliseconds; 0 means forever. */
  readonly counterMs: number
  /** The command that publishes messages of a lock. */
  readonly publish: 'PUBLISH' | 'SPUBLISH'
  /** The id of the server's process; '' if the server does not report an id. */
  readonly runId: string
  /**
   * The name of the mark, the key in which a master records since when it votes, and as which
   * server process.
   */
  readonly birth: string
  /** How long a grant of a fair lock lasts until the owner confirms the grant, in milliseconds. */
  readonly claimMs: number
  /** How long a place in a queue is kept without a heartbeat, in milliseconds. */
  readonly aliveMs: number
  /** The prefix of the inbox channels of the clients. */
  readonly inbox: string
}
