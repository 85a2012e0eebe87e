/**
 * The waits for the locks of one name. The log keeps lists of numbers, because they need less
 * memory than objects, and there are many waits.
 */
export class WaitLog {
  readonly #writtenAt: number[] = []
  readonly #at: number[] = []
  readonly #waitedMs: number[] = []

  add(writtenAt: number, at: number, waitedMs: number): void {
    this.#writtenAt.push(writtenAt)
    this.#at.push(at)
    this.#waitedMs.push(waitedMs)
  }

  /** Drops the oldest wait. */
  drop(): void {
    this.#writtenAt.shift()
    this.#at.shift()
    this.#waitedMs.shift()
  }

  /** Returns the durations of the waits that ended at `from` or later, in milliseconds. */
  since(from: number): number[] {
    const found: number[] = []
    for (let i = this.#firstWrittenSince(from); i < this.#at.length; i++) {
      if ((this.#at[i] as number) >= from) found.push(this.#waitedMs[i] as number)
    }
    return found
  }

  /**
   * Returns the index of the first wait that was written at `from` or later. All earlier waits in
   * the log ended before `from`, because an entry is written after its event.
   */
  #firstWrittenSince(from: number): number {
    let [low, high] = [0, this.#writtenAt.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#writtenAt[middle] as number) < from) low = middle + 1
      else high = middle
    }
    return low
  }
}
