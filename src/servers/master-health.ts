/** One of several masters, as it was found just now. */
export interface MasterHealth {
  /** Its host and port, or the path of its socket. */
  readonly address: string
  /**
   * `votes`: it does its part. `behind`: it votes, and lacks leases that this client has, which it is given at the
   * next renewal. `rests`: it may have forgotten leases, and votes again after `restsForMs`. `unmarked`: it has no mark
   * of its own since it was started, emptied or promoted, and its rest begins when it is next asked for a free lock.
   * `refuses`: it answers with an error. `unreachable`: it does not answer.
   */
  readonly state: 'votes' | 'behind' | 'rests' | 'unmarked' | 'refuses' | 'unreachable'
  /** How long it does not vote yet, in milliseconds; Infinity where it neither answers nor is known to rest. */
  readonly restsForMs: number
  /** How many of the leases that this client has it does not know of. */
  readonly missingLeases: number
  /** Why it refuses or cannot be reached; null where it answers as it should. */
  readonly reason: string | null
}
