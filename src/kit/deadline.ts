import type { Clock, Timer } from './clock.ts'

/**
 * The end of a wait. It can be moved earlier, but not later. While a caller waits, the process
 * stays alive.
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

  /** True if the wait has ended. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** @param ms the latest end, in milliseconds from now; 0 ends the wait at once */
  notAfter(ms: number): void {
    const at = this.#clock.monotonic() + ms
    if (this.#isOver || at >= this.#at) return
    this.#at = at
    this.#clock.clear(this.#timer)
    if (ms === 0) this.#end()
    else this.#timer = this.#clock.after(ms, () => this.#end())
  }

  /** Waits until the work has ended or the deadline is over. The work is not stopped. */
  async awaits(work: Promise<unknown>): Promise<void> {
    await Promise.race([work, this.#passed])
    this.#end()
  }

  #end(): void {
    this.#isOver = true
    this.#clock.clear(this.#timer)
    this.#pass()
  }
}
