import { CallFailure } from '../../call-failure.ts'

/** Calls that wait for a connection. */
export class UntilUp {
  readonly #waiting = new Set<(failure?: CallFailure) => void>()
  /** Resolves when it has connected for the first time, or failed to. */
  readonly known: Promise<void>
  tellKnown!: () => void

  constructor() {
    this.known = new Promise((resolve) => {
      this.tellKnown = resolve
    })
  }

  /** @param whyDown what has been heard of it by the time that it takes too long */
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
        const why = last?.message ?? `not connected within ${Math.round(timeoutMs)} ms`
        done(last?.kind === 'refused' ? last : new CallFailure('unsent', why, last))
      }, timeoutMs)
      this.#waiting.add(done)
    })
  }

  /** @param failure why it will not be up; left out when it is */
  over(failure?: CallFailure): void {
    this.tellKnown()
    for (const done of [...this.#waiting]) done(failure)
  }
}
