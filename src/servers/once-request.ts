import type { Clock } from '../kit/clock.ts'

/**
 * A request that counts once, however often it is sent. Each sending has the same id. The server
 * stores the result as long as a copy of the request may arrive.
 */
export class OnceRequest {
  /** Unique to this request. */
  readonly id: string
  /** When the caller asked, on the monotonic clock of its client. */
  readonly askedAt: number
  /** For how long after the first sending the request may be sent again, in milliseconds. */
  readonly keptMs: number
  /**
   * True if a copy may have run, or may still run. Then the deadline of that copy applies to all
   * copies.
   */
  mayHaveRun = false
  /** The deadline of the copy that was sent last, server time in µs. */
  untilUs: number | undefined

  constructor(id: string, keptMs: number, clock: Clock) {
    this.id = id
    this.keptMs = keptMs
    this.askedAt = clock.monotonic()
  }
}
