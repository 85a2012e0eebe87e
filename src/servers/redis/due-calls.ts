import { CallFailure } from '../call-failure.ts'
import { failureOf } from './failure-of.ts'
import type { Client } from './open-client.ts'

/** The calls of one connection that have no answer yet, each with a deadline of its own. */
export class DueCalls {
  readonly #onSilence: (client: Client) => void
  readonly #onRefusal: (failure: CallFailure) => void
  #due = 0
  /** Since when answers are due and none has come, on `performance.now()`. */
  #silentSince: number | undefined

  /**
   * @param onSilence a call has waited in vain
   * @param onRefusal the server answered with an error
   */
  constructor(onSilence: (client: Client) => void, onRefusal: (failure: CallFailure) => void) {
    this.#onSilence = onSilence
    this.#onRefusal = onRefusal
  }

  get any(): boolean {
    return this.#due > 0
  }

  /** For how long nothing has come while answers were due, in milliseconds. */
  get silentMs(): number {
    return this.#silentSince === undefined ? 0 : performance.now() - this.#silentSince
  }

  /** The connection is gone: some of them ioredis may never settle. */
  forget(): void {
    this.#due = 0
    this.#silentSince = undefined
  }

  /** @returns the reply; rejects with a {@link CallFailure} and nothing else */
  send<T>(client: Client, timeoutMs: number, send: (client: Client) => Promise<T>): Promise<T> {
    this.#silentSince ??= performance.now()
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        reject(new CallFailure('unknown', `no answer within ${Math.round(timeoutMs)} ms`))
        // What makes up for the lost answer may still get through where the request did.
        setImmediate(() => this.#onSilence(client))
      }
      // Not unref'ed: it keeps the process alive while an answer is due. After a blocked event loop
      // the answer may have arrived and not been read yet: that has its turn first.
      const timer = setTimeout(setImmediate, timeoutMs, giveUp)
      this.#due += 1
      send(client).then(
        (reply) => {
          this.#answered(timer)
          resolve(reply)
        },
        (error: unknown) => {
          this.#answered(timer)
          const failure = failureOf(error)
          if (failure.kind === 'refused') this.#onRefusal(failure)
          reject(failure)
        },
      )
    })
  }

  #answered(timer: NodeJS.Timeout): void {
    if (this.#due > 0) this.#due -= 1
    clearTimeout(timer)
    this.#silentSince = undefined
  }
}
