import type { Clock, Timer } from './clock.ts'

/** The end of a wait. It moves earlier, never later. A waiting caller keeps the process alive. */
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

  /** @param ms from now, in milliseconds; 0 ends the wait at once */
  notAfter(ms: number): void {
    const at = this.#clock.monotonic() + ms
    if (this.#isOver || at >= this.#at) return
    this.#at = at
    this.#clock.clear(this.#timer)
    if (ms === 0) this.#end()
    else this.#timer = this.#clock.after(ms, () => this.#end())
  }

  /** Waits for the work until the deadline. The work itself continues. */
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
