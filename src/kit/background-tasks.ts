/** What goes on in the background, so that it is known when all of it is done. */
export class BackgroundTasks {
  readonly #onError: (error: Error) => void
  readonly #onQuiet: () => void
  readonly #waiting: (() => void)[] = []
  #running = 0
  readonly #done = () => this.end()
  readonly #failed = (error: Error) => {
    this.#onError(error)
    this.#done()
  }

  constructor(onError: (error: Error) => void = () => {}, onQuiet: () => void = () => {}) {
    this.#onError = onError
    this.#onQuiet = onQuiet
  }

  /**
   * Nobody else hears of a failure of this one.
   *
   * @param whose who waits for it, if anybody, and must not wait for ever
   */
  run(work: Promise<unknown>, whose?: { reject(error: Error): void }): void {
    this.#running += 1
    const failed =
      whose === undefined
        ? this.#failed
        : (error: Error) => {
            whose.reject(error)
            this.#failed(error)
          }
    work.then(this.#done, failed)
  }

  /** Something goes on, until `end()` is called for it. */
  begin(): void {
    this.#running += 1
  }

  end(): void {
    this.#running -= 1
    this.settle()
  }

  /** Somebody else hears of a failure of this one. */
  count(work: Promise<unknown>): void {
    this.#running += 1
    work.then(this.#done, this.#done)
  }

  get isQuiet(): boolean {
    return this.#running === 0
  }

  /** Tells, when nothing goes on. */
  settle(): void {
    if (!this.isQuiet) return
    for (const resolve of this.#waiting.splice(0)) resolve()
    this.#onQuiet()
  }

  async quiet(): Promise<void> {
    while (!this.isQuiet) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }
}
