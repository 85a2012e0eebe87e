import { type CallFailure, NoAnswer } from '../call-failure.ts'
import type { ConnectionEvents } from './connection-events.ts'

/** If a server is not ready, the client asks again after this pause, in milliseconds. */
const AGAIN_MS = 1_000

/** The problem of a live connection: its server does not answer, or is not ready. */
export class Trouble {
  readonly #events: ConnectionEvents
  readonly #silenceMs: number
  readonly #ping: () => void
  #timer: NodeJS.Timeout | undefined
  /** True if a problem was reported. The next answer ends the problem. */
  isReported = false

  /** @param ping asks the server for any answer */
  constructor(events: ConnectionEvents, silenceMs: number, ping: () => void) {
    this.#events = events
    this.#silenceMs = silenceMs
    this.#ping = ping
  }

  silent(): void {
    this.#report(new NoAnswer('unknown', `no answer within ${this.#silenceMs} ms`))
  }

  /** Called when the server is not ready. Asks the server again later, because no other call may follow. */
  notReady(failure: CallFailure): void {
    this.#report(failure)
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#ping()
    }, AGAIN_MS).unref()
  }

  answered(): void {
    this.isReported = false
    this.#events.answered?.()
  }

  stopTimer(): void {
    clearTimeout(this.#timer)
  }

  #report(failure: CallFailure): void {
    this.isReported = true
    this.#events.error(failure)
  }
}
