/** Whose they are. */
interface Host {
  /** Nobody else hears of that failure. */
  taskFailed(error: Error): void
  /** Nothing goes on any more. */
  tasksEnded(): void
}

const NOBODY: Host = { taskFailed: () => {}, tasksEnded: () => {} }

/** What goes on in the background, so that it is known when all of it is done. */
export class BackgroundTasks {
  readonly #host: Host
  #waiting: (() => void)[] | undefined
  #running = 0

  constructor(host: Host = NOBODY) {
    this.#host = host
  }

  /**
   * Nobody else hears of a failure of this one.
   *
   * @param whose who waits for it, if anybody, and must not wait for ever
   */
  run(work: Promise<unknown>, whose?: { reject(error: Error): void }): void {
    this.#running += 1
    work.then(
      () => this.end(),
      (error: Error) => {
        whose?.reject(error)
        this.#host.taskFailed(error)
        this.end()
      },
    )
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
    const end = () => this.end()
    work.then(end, end)
  }

  get isQuiet(): boolean {
    return this.#running === 0
  }

  /** Tells, when nothing goes on. */
  settle(): void {
    if (!this.isQuiet) return
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting !== undefined) for (const resolve of waiting) resolve()
    this.#host.tasksEnded()
  }

  async quiet(): Promise<void> {
    while (!this.isQuiet) {
      await new Promise<void>((resolve) => {
        this.#waiting ??= []
        this.#waiting.push(resolve)
      })
    }
  }
}
