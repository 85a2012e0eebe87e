import type { Clock, Timer } from './clock.ts'

/** The end of a wait: it may be moved forward, and never back. While it is waited for it keeps the process alive. */
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

  /** Whether nothing is waited for any more. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** @param ms from now on; 0 is at once */
  notAfter(ms: number): void {
    const at = this.#clock.monotonic() + ms
    if (this.#isOver || at >= this.#at) return
    this.#at = at
    this.#clock.clear(this.#timer)
    if (ms === 0) this.#end()
    else this.#timer = this.#clock.after(ms, () => this.#end())
  }

  /** Waits for the work until then; the work goes on. */
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
