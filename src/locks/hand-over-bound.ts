/** So many hand-overs in a row, or so many milliseconds of them, and others get their chance. */
const MOST_PASSES = 64
const LONGEST_MS = 20

/**
 * Bounds how long a lock stays in one client while other clients wait for it. Measured with
 * `npm run bench:hand-over`.
 */
export class HandOverBound {
  #passes = 0
  #since = 0

  passed(): void {
    if (this.#passes === 0) this.#since = performance.now()
    this.#passes += 1
  }

  reached(): boolean {
    if (this.#passes === 0) return false
    return this.#passes >= MOST_PASSES || performance.now() - this.#since >= LONGEST_MS
  }

  reset(): void {
    this.#passes = 0
  }
}
