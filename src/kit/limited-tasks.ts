import type { Clock, Timer } from './clock.ts'

/**
 * Runs tasks in their order, at most `most` at once. If no task succeeds for `stalledMs`, starts all remaining tasks.
 * Otherwise the remaining tasks would wait until the earlier tasks reach their time limits.
 */
export class LimitedTasks {
  /** The number of tasks that have succeeded. */
  succeeded = 0
  readonly #clock: Clock
  readonly #most: number
  readonly #stalledMs: number
  readonly #waiting: (() => void)[] = []
  #next = 0
  #running = 0
  #timer: Timer | undefined
  /**
   * The number of checks since a task last succeeded. Only the second check proves a stall. At the first check, the
   * answers may have arrived, but a blocked event loop may not have handled them.
   */
  #checksSinceSuccess = 0
  #isStalled = false

  constructor(clock: Clock, most: number, stalledMs: number) {
    this.#clock = clock
    this.#most = most
    this.#stalledMs = stalledMs
  }

  /** True if all tasks have ended. */
  get isDone(): boolean {
    return this.#running === 0 && this.#next === this.#waiting.length
  }

  /** Adds a task, which runs after `start()`. The promise settles as the task does. */
  add<T>(task: () => Promise<T>): Promise<T> {
    return new Promise((resolve) => {
      this.#waiting.push(() => {
        this.#running += 1
        const work = task()
        resolve(work)
        work.then(
          () => this.#done(),
          () => this.#ended(),
        )
      })
    })
  }

  start(): void {
    while (this.#next < this.#waiting.length && (this.#isStalled || this.#running < this.#most)) {
      const start = this.#waiting[this.#next] as () => void
      this.#next += 1
      start()
    }
    if (this.#next < this.#waiting.length) {
      this.#timer ??= this.#clock.after(this.#stalledMs / 2, () => this.#checkAgain()).unref()
    }
  }

  #done(): void {
    this.succeeded += 1
    this.#checksSinceSuccess = 0
    this.#ended()
  }

  #ended(): void {
    this.#running -= 1
    this.start()
  }

  #checkAgain(): void {
    this.#timer = undefined
    this.#checksSinceSuccess += 1
    this.#isStalled = this.#checksSinceSuccess >= 2
    this.start()
  }
}
