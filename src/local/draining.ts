/** One that may be in use. */
interface Used {
  /** Whether nobody here has or wants it. */
  readonly isIdle: boolean
}

/** Locks of a client that gives nothing new, until nobody has or wants any of them. */
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

  /** Nobody has or wants that one. */
  free(lock: Used): void {
    if (this.#inUse.delete(lock) && this.#inUse.size === 0) this.#end()
  }
}
