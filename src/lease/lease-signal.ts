import { outsideFrames } from '../kit/frame-storage.ts'

/**
 * An AbortController whose signal checks the clocks when it is read. After a blocked event loop,
 * user code runs before any timer. It must not see an outdated `aborted: false`.
 */
export class LeaseSignal {
  readonly #controller = new AbortController()

  constructor(look: () => void) {
    const { signal } = this.#controller
    const looking = (property: 'aborted' | 'reason') => ({
      configurable: true,
      get: () => {
        look()
        return Reflect.get(AbortSignal.prototype, property, signal) as unknown
      },
    })
    Object.defineProperties(signal, {
      aborted: looking('aborted'),
      reason: looking('reason'),
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
   * Listeners run in no frame, because the code that notices the loss is usually not code of the
   * holder.
   */
  abort(reason: Error): void {
    outsideFrames(() => this.#controller.abort(reason))
  }
}
