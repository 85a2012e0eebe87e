import type { Clock } from '../kit/clock.ts'

/**
 * Who is to be asked about once more, soon. Each is so once, however many answers were missing: or else
 * each tick of an outage would add one more who goes on asking.
 */
export class Recheck<T> {
  readonly #due = new Set<T>()
  readonly #inMs: number
  readonly #clock: Clock
  readonly #ask: (those: readonly T[]) => void

  /**
   * @param inMs when, in milliseconds
   * @param ask called with those that were added together
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
