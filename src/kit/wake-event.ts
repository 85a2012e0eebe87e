import { LONGEST_TIMER_MS } from './timers.ts'

/**
 * Something to wait for, once at a time. A ring while nobody waits is kept for the next wait, so
 * none is lost between a look and a wait.
 */
export class WakeEvent {
  #rung = false
  #wake: (() => void) | undefined

  set(): void {
    this.#rung = true
    this.#wake?.()
  }

  /** Whether somebody waits right now. */
  get isAwaited(): boolean {
    return this.#wake !== undefined
  }

  /** Forgets the rings so far: what they told is about to be looked at. */
  reset(): void {
    this.#rung = false
  }

  /**
   * Resolves at the next ring, or after `ms` milliseconds at the latest.
   *
   * @param keepAlive false lets the process end meanwhile
   */
  wait(ms = LONGEST_TIMER_MS, { keepAlive = true } = {}): Promise<void> {
    if (this.#rung) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#wake?.(), Math.min(ms, LONGEST_TIMER_MS))
      if (!keepAlive) timer.unref()
      this.#wake = () => {
        clearTimeout(timer)
        this.#wake = undefined
        resolve()
      }
    })
  }
}
