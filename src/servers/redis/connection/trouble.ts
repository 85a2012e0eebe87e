import { CallFailure } from '../../call-failure.ts'
import type { ConnectionEvents } from './connection-events.ts'

/** A server that is not ready is asked again after this time, in milliseconds. */
const AGAIN_MS = 1_000

/** What is wrong with a connection that is up: its server gives no answer, or is not ready. */
export class Trouble {
  readonly #events: ConnectionEvents
  readonly #silenceMs: number
  readonly #ping: () => void
  #timer: NodeJS.Timeout | undefined
  /** Whether anything is wrong: the next answer ends it. */
  isTold = false

  /** @param ping asks the server for any answer */
  constructor(events: ConnectionEvents, silenceMs: number, ping: () => void) {
    this.#events = events
    this.#silenceMs = silenceMs
    this.#ping = ping
  }

  silent(): void {
    this.#tell(new CallFailure('unknown', `no answer within ${this.#silenceMs} ms`))
  }

  /** Maybe nobody else asks it again. */
  notReady(failure: CallFailure): void {
    this.#tell(failure)
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#ping()
    }, AGAIN_MS).unref()
  }

  answered(): void {
    this.isTold = false
    this.#events.answered?.()
  }

  close(): void {
    clearTimeout(this.#timer)
  }

  #tell(failure: CallFailure): void {
    this.isTold = true
    this.#events.error(failure)
  }
}
