import type { Clock, Timer } from './clock.ts'

/**
 * Runs tasks in their order, at most `most` at once. If no task ends for `stalledMs`, starts the remaining tasks,
 * because each task has its own limit of time.
 */
export class LimitedTasks {
  readonly #clock: Clock
  readonly #most: number
  readonly #stalledMs: number
  readonly #waiting: (() => void)[] = []
  #next = 0
  #running = 0
  #timer: Timer | undefined
  /** The first check is late if the event loop was blocked, so only the second check since the end of a task counts. */
  #checksSinceEnd = 0
  #isStalled = false

  constructor(clock: Clock, most: number, stalledMs: number) {
    this.#clock = clock
    this.#most = most
    this.#stalledMs = stalledMs
  }

  /** Adds a task, which runs after `start()`. The promise settles as the task does. */
  add<T>(task: () => Promise<T>): Promise<T> {
    return new Promise((resolve) => {
      this.#waiting.push(() => {
        this.#running += 1
        const work = task()
        resolve(work)
        const ended = () => this.#ended()
        work.then(ended, ended)
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

  #ended(): void {
    this.#running -= 1
    this.#checksSinceEnd = 0
    this.start()
  }

  #checkAgain(): void {
    this.#timer = undefined
    this.#checksSinceEnd += 1
    this.#isStalled = this.#checksSinceEnd >= 2
    this.start()
  }
}
