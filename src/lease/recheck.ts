import type { Clock } from '../kit/clock.ts'

/**
 * Checks items again after a delay. `add` ignores an item that already waits for its check.
 * Otherwise each tick of the watchdog during an outage would start another series of checks.
 */
export class Recheck<T> {
  readonly #due = new Set<T>()
  readonly #inMs: number
  readonly #clock: Clock
  readonly #check: (those: readonly T[]) => void

  /**
   * @param inMs the delay in milliseconds
   * @param check checks the items of one call of `add`
   */
  constructor(inMs: number, clock: Clock, check: (those: readonly T[]) => void) {
    this.#inMs = inMs
    this.#clock = clock
    this.#check = check
  }

  add(all: readonly T[]): void {
    const those = all.filter((one) => !this.#due.has(one))
    if (those.length === 0) return
    for (const one of those) this.#due.add(one)
    const checkAgain = () => {
      for (const one of those) this.#due.delete(one)
      this.#check(those)
    }
    this.#clock.after(this.#inMs, checkAgain).unref()
  }
}
