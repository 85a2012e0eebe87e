import { Linked, LinkedList } from '../kit/linked-list.ts'

interface Abortable {
  reject(reason: unknown): void
}

/** All watches of one signal. This object exists only while the signal has watches. */
class Shared {
  readonly all = new LinkedList<AbortWatch>()
  readonly #signal: AbortSignal
  readonly #onAbort = () => {
    shared.delete(this.#signal)
    for (const { target } of [...this.all]) target.reject(this.#signal.reason)
  }

  constructor(signal: AbortSignal) {
    this.#signal = signal
    signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  stopListening(): void {
    shared.delete(this.#signal)
    this.#signal.removeEventListener('abort', this.#onAbort)
  }
}

const shared = new Map<AbortSignal, Shared>()

/**
 * Rejects its target if the signal aborts before `stop()` is called. All watches of a signal share
 * one listener. With many listeners, Node.js would warn, and the removal of a listener would be
 * slow.
 */
export class AbortWatch extends Linked<AbortWatch> {
  readonly target: Abortable
  readonly #shared: Shared

  constructor(signal: AbortSignal, target: Abortable) {
    super()
    this.target = target
    let those = shared.get(signal)
    if (those === undefined) {
      those = new Shared(signal)
      shared.set(signal, those)
    }
    this.#shared = those
    those.all.add(this)
  }

  stop(): void {
    const { all } = this.#shared
    all.remove(this)
    if (all.size === 0) this.#shared.stopListening()
  }
}
