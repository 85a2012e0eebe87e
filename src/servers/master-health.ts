/** One of several masters, as it answered just now. */
export interface MasterHealth {
  /** Its host and port, or the path of its socket. */
  readonly address: string
  /**
   * `votes`: it works normally. `behind`: it votes, but lacks leases of this client; the next renewal adds them.
   * `rests`: it may have lost leases, and votes again after `restsForMs`. `unmarked`: it lost its mark when it was
   * started, emptied or promoted; its rest begins with the next request for a free lock. `refuses`: it answers with an
   * error. `unreachable`: it does not answer.
   */
  readonly state: 'votes' | 'behind' | 'rests' | 'unmarked' | 'refuses' | 'unreachable'
  /** How long until it votes, in milliseconds. Infinity if it does not answer and is not known to rest. */
  readonly restsForMs: number
  /** How many leases of this client it lacks. */
  readonly missingLeases: number
  /** Why it refuses or cannot be reached; null if it answers normally. */
  readonly reason: string | null
}
