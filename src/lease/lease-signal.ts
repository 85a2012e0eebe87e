import { outsideFrames } from '../kit/frame-storage.ts'

/**
 * An `AbortController` whose signal checks the clocks when code reads its state. After the event
 * loop was blocked, user code may run before any timer, and must not read an outdated `aborted:
 * false`.
 */
export class LeaseSignal {
  readonly #controller = new AbortController()

  constructor(check: () => void) {
    const { signal } = this.#controller
    const checking = (property: 'aborted' | 'reason') => ({
      configurable: true,
      get: () => {
        check()
        return Reflect.get(AbortSignal.prototype, property, signal) as unknown
      },
    })
    Object.defineProperties(signal, {
      aborted: checking('aborted'),
      reason: checking('reason'),
      throwIfAborted: {
        configurable: true,
        value: () => {
          if (signal.aborted) throw signal.reason
        },
      },
    })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /**
   * Aborts the signal. Its listeners run outside all frames, because the code that noticed the loss
   * may run in a frame of another owner.
   */
  abort(reason: Error): void {
    outsideFrames(() => this.#controller.abort(reason))
  }
}
