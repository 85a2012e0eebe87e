/** The state of one of several masters, as the master has just answered. */
export interface MasterHealth {
  /** The host and port of the master, or the path of its socket. */
  readonly address: string
  /**
   * `votes`: the master works normally. `behind`: it votes, but lacks leases of this client; the next renewal adds
   * them. `rests`: it may have lost leases, and votes again after `restsForMs`. `unmarked`: it was started, emptied
   * or promoted, and has no valid mark yet. It does not vote, and its rest begins with the next request for a free
   * lock. `refuses`: it answers with an error. `unreachable`: it does not answer.
   */
  readonly state: 'votes' | 'behind' | 'rests' | 'unmarked' | 'refuses' | 'unreachable'
  /**
   * How long until the master votes, in milliseconds; 0 if it votes now. For `unmarked`, how long its rest will take.
   * Infinity if the master refuses or is unreachable.
   */
  readonly restsForMs: number
  /** The number of held leases of this client that the master lacks; 0 if the master refuses or is unreachable. */
  readonly missingLeases: number
  /** Why the master refuses or is unreachable; null in any other state. */
  readonly reason: string | null
}
