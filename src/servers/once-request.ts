import type { Clock } from '../kit/clock.ts'

/**
 * A request that takes effect once, even if the client sends several copies. All copies have the
 * same id. The server stores the result as long as a copy may still arrive.
 */
export class OnceRequest {
  /** Unique to this request. */
  readonly id: string
  /** When the caller made the call, on the client's monotonic clock. */
  readonly askedAt: number
  /** For how long after the first sending the request may be sent again, in milliseconds. */
  readonly keptMs: number
  /**
   * True if a copy may have run, or may still run. Then all later copies get the deadline of that
   * copy.
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
