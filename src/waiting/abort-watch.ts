import { Linked, LinkedList } from '../kit/linked-list.ts'

/** Whoever an abort ends. */
interface Abortable {
  reject(reason: unknown): void
}

/** All who wait with one signal, while anybody does. */
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

  close(): void {
    shared.delete(this.#signal)
    this.#signal.removeEventListener('abort', this.#onAbort)
  }
}

const shared = new Map<AbortSignal, Shared>()

/**
 * One who is ended by an abort, until `stop()`. A signal has one listener however many there are: to
 * take out one of many takes as long as there are many, and Node.js warns of more than ten.
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
    if (all.size === 0) this.#shared.close()
  }
}
