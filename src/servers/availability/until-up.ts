import { CallFailure, NotConnected } from '../call-failure.ts'

/** The calls that wait for a connection. */
export class UntilUp {
  readonly #waiting = new Set<(failure?: CallFailure) => void>()
  /** Resolves when the first attempt to connect has succeeded or failed. */
  readonly known: Promise<void>
  resolveKnown!: () => void

  constructor() {
    this.known = new Promise((resolve) => {
      this.resolveKnown = resolve
    })
  }

  /**
   * Resolves when the connection is up. Rejects after `timeoutMs`, or when `finish` gets a failure.
   *
   * @param whyDown returns the last known failure; called at the timeout
   */
  wait(timeoutMs: number, whyDown: () => CallFailure | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (failure?: CallFailure) => {
        clearTimeout(timer)
        this.#waiting.delete(done)
        if (failure === undefined) resolve()
        else reject(failure)
      }
      const timer = setTimeout(() => {
        const last = whyDown()
        const limitMs = Math.round(timeoutMs)
        if (last === undefined) {
          done(new NotConnected('unsent', `not connected within ${limitMs} ms`))
        } else done(last.kind === 'refused' ? last : new CallFailure('unsent', last.message, last))
      }, timeoutMs)
      this.#waiting.add(done)
    })
  }

  /**
   * Settles all waiting calls.
   *
   * @param failure why the connection will not be up; left out if the connection is up
   */
  finish(failure?: CallFailure): void {
    this.resolveKnown()
    for (const done of [...this.#waiting]) done(failure)
  }
}
