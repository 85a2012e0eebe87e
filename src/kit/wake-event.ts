import { LONGEST_TIMER_MS, NOW } from './timers.ts'

/** One who waits for a ring. */
interface Woken {
  woken(): void
}

/**
 * Something to wait for, once at a time. A ring while nobody waits is kept for the next wait, so
 * none is lost between a look and a wait.
 */
export class WakeEvent {
  #rung = false
  #awaitedBy: Woken | undefined
  #timer: NodeJS.Timeout | undefined

  set(): void {
    this.#rung = true
    this.#wake()
  }

  /** Whether somebody waits right now. */
  get isAwaited(): boolean {
    return this.#awaitedBy !== undefined
  }

  /** Forgets the rings so far: what they told is about to be looked at. */
  reset(): void {
    this.#rung = false
  }

  /** Calls `woken` once: after the next ring, or after `ms` milliseconds at the latest, and never at once. */
  wake(one: Woken, ms = LONGEST_TIMER_MS): void {
    if (this.#rung) {
      void NOW.then(() => one.woken())
      return
    }
    this.#awaitedBy = one
    this.#timer = setTimeout(() => this.#wake(), Math.min(ms, LONGEST_TIMER_MS))
  }

  /** Resolves at the next ring, or after `ms` milliseconds at the latest. */
  wait(ms?: number): Promise<void> {
    return new Promise((resolve) => {
      this.wake({ woken: resolve }, ms)
    })
  }

  #wake(): void {
    const one = this.#awaitedBy
    if (one === undefined) return
    clearTimeout(this.#timer)
    this.#awaitedBy = undefined
    void NOW.then(() => one.woken())
  }
}
