import type { Clock, Timer } from './clock.ts'

/**
 * The latest end of a wait. Calls of `notAfter` can make this time earlier, but not later. The
 * timer keeps the process alive.
 */
export class Deadline {
  readonly #passed: Promise<void>
  #pass!: () => void
  #at = Infinity
  #timer: Timer | undefined
  #isOver = false
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
    this.#passed = new Promise((resolve) => {
      this.#pass = resolve
    })
  }

  /** True if the wait has ended, by its deadline or because the work has ended. */
  get isOver(): boolean {
    return this.#isOver
  }

  /**
   * Ends the wait at the latest after `ms` milliseconds from now.
   *
   * @param ms 0 ends the wait at once
   */
  notAfter(ms: number): void {
    const at = this.#clock.monotonic() + ms
    if (this.#isOver || at >= this.#at) return
    this.#at = at
    this.#clock.clear(this.#timer)
    if (ms === 0) this.#expire()
    else this.#timer = this.#clock.after(ms, () => this.#expire())
  }

  /**
   * Waits until the work has ended or the deadline has passed. The work itself continues after the
   * deadline.
   */
  async awaits(work: Promise<unknown>): Promise<void> {
    await Promise.race([work, this.#passed])
    this.#expire()
  }

  #expire(): void {
    this.#isOver = true
    this.#clock.clear(this.#timer)
    this.#pass()
  }
}
