/** The arguments of scripts that the connection provides, and not the caller. */
export interface Terms {
  /** The server time in µs after which the current request must not run; 0 means no limit. */
  readonly notAfterUs: number
  /** How long a token counter is kept after its last use, in milliseconds; 0 means forever. */
  readonly counterMs: number
  /** The command that publishes messages of a lock. */
  readonly publish: 'PUBLISH' | 'SPUBLISH'
  /** The id of the server's process; '' if the server does not report an id. */
  readonly runId: string
  /** The key of a master's mark. The mark stores from when the master votes, and its replication id. */
  readonly birth: string
  /** A grant of a fair lock ends after this many milliseconds, unless the owner confirms the grant. */
  readonly claimMs: number
  /** A place in a queue ends after this many milliseconds without a heartbeat. */
  readonly aliveMs: number
  /** The prefix of the inbox channels of the clients. */
  readonly inbox: string
}
