import type { Clock } from '../kit/clock.ts'

/**
 * Checks items again after a delay. Items that already wait for a check are not added again.
 * Otherwise each tick of an outage would begin another series of checks.
 */
export class Recheck<T> {
  readonly #due = new Set<T>()
  readonly #inMs: number
  readonly #clock: Clock
  readonly #ask: (those: readonly T[]) => void

  /**
   * @param inMs the delay in milliseconds
   * @param ask checks the items of one call of `add`
   */
  constructor(inMs: number, clock: Clock, ask: (those: readonly T[]) => void) {
    this.#inMs = inMs
    this.#clock = clock
    this.#ask = ask
  }

  add(all: readonly T[]): void {
    const those = all.filter((one) => !this.#due.has(one))
    if (those.length === 0) return
    for (const one of those) this.#due.add(one)
    const askAgain = () => {
      for (const one of those) this.#due.delete(one)
      this.#ask(those)
    }
    this.#clock.after(this.#inMs, askAgain).unref()
  }
}
