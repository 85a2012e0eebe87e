import { outsideFrames } from '../kit/frame-storage.ts'

/**
 * An AbortController whose signal looks at the clock when it is read: after a blocked event loop
 * user code runs before any timer, and must not see a stale `aborted: false`.
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

  /** Listeners run in no frame: whoever finds out about the loss is mostly not the holder. */
  abort(reason: Error): void {
    outsideFrames(() => this.#controller.abort(reason))
  }
}
