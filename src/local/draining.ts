interface Used {
  /**
   * True if this client does not hold the lock, does not wait for it, and has no task for it under
   * way.
   */
  readonly isIdle: boolean
}

/** The locks that a draining client still uses. `done` resolves when all of them are idle. */
export class Draining {
  readonly done: Promise<void>
  readonly #inUse: Set<Used>
  #resolve!: () => void

  constructor(all: Iterable<Used>) {
    this.#inUse = new Set([...all].filter(({ isIdle }) => !isIdle))
    this.done = new Promise((resolve) => {
      this.#resolve = resolve
    })
    if (this.#inUse.size === 0) this.#resolve()
  }

  /** Called when the lock becomes idle. The drain ignores locks that were idle when it began. */
  free(lock: Used): void {
    if (this.#inUse.delete(lock) && this.#inUse.size === 0) this.#resolve()
  }
}
