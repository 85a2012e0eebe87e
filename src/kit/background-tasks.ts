interface TaskEvents {
  /** Called with the failure of a task that `run` counts. */
  taskFailed(error: Error): void
  /** Called when the last task has ended, and whenever `reportIfQuiet` finds no task. */
  tasksEnded(): void
}

const NOBODY: TaskEvents = { taskFailed: () => {}, tasksEnded: () => {} }

/** Counts tasks in the background, so that callers can wait until all of them have ended. */
export class BackgroundTasks {
  readonly #host: TaskEvents
  #waiting: (() => void)[] | undefined
  #running = 0

  constructor(host: TaskEvents = NOBODY) {
    this.#host = host
  }

  /**
   * Counts a task until its promise settles. If the task fails, calls `taskFailed` of the host.
   *
   * @param whose the call for which the task runs. A failure of the task also rejects this call,
   * because its caller would otherwise wait forever
   */
  run(work: Promise<unknown>, whose?: { reject(error: Error): void }): void {
    this.#running += 1
    work.then(
      () => this.finished(),
      (error: Error) => {
        whose?.reject(error)
        this.#host.taskFailed(error)
        this.finished()
      },
    )
  }

  /** Counts one more task, which ends when `finished()` is called. */
  started(): void {
    this.#running += 1
  }

  finished(): void {
    this.#running -= 1
    this.reportIfQuiet()
  }

  /**
   * Counts a task until its promise settles. Ignores a failure, because other code receives the
   * failure.
   */
  count(work: Promise<unknown>): void {
    this.#running += 1
    const finished = () => this.finished()
    work.then(finished, finished)
  }

  get isQuiet(): boolean {
    return this.#running === 0
  }

  /**
   * If no task is under way, resolves the promises of `quiet()`, and calls `tasksEnded` of the
   * host.
   */
  reportIfQuiet(): void {
    if (!this.isQuiet) return
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting !== undefined) for (const resolve of waiting) resolve()
    this.#host.tasksEnded()
  }

  /** Resolves when no task is under way. */
  async quiet(): Promise<void> {
    while (!this.isQuiet) {
      await new Promise<void>((resolve) => {
        this.#waiting ??= []
        this.#waiting.push(resolve)
      })
    }
  }
}
