import type { Clock } from '../kit/clock.ts'

/**
 * A request that counts once, however often it is sent: each sending of it goes under the same id, and a place
 * remembers what it came to for as long as a copy of it may still arrive.
 */
export class OnceRequest {
  /** No other request has it. */
  readonly id: string
  /** When it was asked for, on the clock of its client. */
  readonly askedAt: number
  /** For how long from its first sending on it may be sent, in milliseconds. */
  readonly keptMs: number
  /** Whether a copy of it may have run, or may run yet. Its place then goes by what it told that one. */
  mayHaveRun = false
  /** The moment after which it does not run any more, as its place told the copy that was sent last. */
  untilUs: number | undefined

  constructor(id: string, keptMs: number, clock: Clock) {
    this.id = id
    this.keptMs = keptMs
    this.askedAt = clock.monotonic()
  }
}
