interface Used {
  /** True if this client neither holds the lock nor waits for it. */
  readonly isIdle: boolean
}

/** The locks in use of a draining client, until all of them are idle. */
export class Draining {
  readonly done: Promise<void>
  readonly #inUse: Set<Used>
  #end!: () => void

  constructor(all: Iterable<Used>) {
    this.#inUse = new Set([...all].filter(({ isIdle }) => !isIdle))
    this.done = new Promise((resolve) => {
      this.#end = resolve
    })
    if (this.#inUse.size === 0) this.#end()
  }

  /** Called when this client neither holds the lock nor waits for it any longer. */
  free(lock: Used): void {
    if (this.#inUse.delete(lock) && this.#inUse.size === 0) this.#end()
  }
}
