/** What the scripts are told beside what is asked for: the connection knows it, and no caller passes it. */
export interface Terms {
  /** Server time in µs after which a request is not to run; 0 is never. Of the request that is being sent. */
  readonly notAfterUs: number
  /** How long a token counter outlives its last use, in milliseconds; 0 keeps it for good. */
  readonly counterMs: number
  /** How a message is sent to those who listen to the channel of a lock. */
  readonly publish: 'PUBLISH' | 'SPUBLISH'
  /** The id of the server's process; '' when it does not tell. */
  readonly runId: string
  /** The key that tells since when a master may vote, and as which process of the server. */
  readonly birth: string
  /** How long a grant stands before it is confirmed, in milliseconds. */
  readonly claimMs: number
  /** How long a place in a queue is kept without a heartbeat, in milliseconds. */
  readonly aliveMs: number
  /** The prefix of the channels on which clients are told what they were granted. */
  readonly inbox: string
}
