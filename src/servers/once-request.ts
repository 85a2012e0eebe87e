import type { Clock } from '../kit/clock.ts'

/**
 * A request that counts once, even if the client sends several copies. All copies have the same id.
 * The server stores the result for as long as a copy may arrive.
 */
export class OnceRequest {
  readonly id: string
  /** When the caller made the call, in ms on the client's monotonic clock. */
  readonly calledAt: number
  /**
   * How long the server may run the copies of the request, in milliseconds. This time begins with
   * the first copy that may have run.
   */
  readonly keptMs: number
  /**
   * True if the server may have run a copy, or may still run a copy. Later copies then get no new
   * deadline.
   */
  mayHaveRun = false
  /** The deadline of all copies, in ms on the client's monotonic clock. */
  #untilMs: number | undefined

  constructor(id: string, keptMs: number, clock: Clock) {
    this.id = id
    this.keptMs = keptMs
    this.calledAt = clock.monotonic()
  }

  /**
   * Checks whether the client may still send a copy. Only a server that does not itself refuse late
   * copies needs this check. The time limit begins with the first copy that may have run.
   *
   * @param now the time on the client's monotonic clock, in milliseconds
   * @returns false if it is too late, because the server may have forgotten the result of an
   * earlier copy
   */
  startCopy(now: number): boolean {
    if (!this.mayHaveRun) this.#untilMs = undefined
    this.#untilMs ??= now + this.keptMs
    return now <= this.#untilMs
  }
}
