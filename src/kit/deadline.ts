/** The end of a wait: it may be moved forward, and never back. While it is waited for it keeps the process alive. */
export class Deadline {
  readonly #passed: Promise<void>
  #pass!: () => void
  #at = Infinity
  #timer: NodeJS.Timeout | undefined
  #isOver = false

  constructor() {
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
    const at = performance.now() + ms
    if (this.#isOver || at >= this.#at) return
    this.#at = at
    clearTimeout(this.#timer)
    if (ms === 0) this.#end()
    else this.#timer = setTimeout(() => this.#end(), ms)
  }

  /** Waits for the work until then; the work goes on. */
  async awaits(work: Promise<unknown>): Promise<void> {
    await Promise.race([work, this.#passed])
    this.#end()
  }

  #end(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#pass()
  }
}
