/** The operations that have begun and not ended, each with its labels. */
export class UnderWay<Fact extends object, Labels> {
  readonly #begun = new Map<Fact, { readonly labels: Labels; readonly since: number }>()

  started(fact: Fact, labels: Labels): void {
    this.#begun.set(fact, { labels, since: performance.now() })
  }

  /**
   * Removes an operation that has ended.
   *
   * @returns the labels and the duration of the operation, in seconds; undefined if it was not
   * under way
   */
  finished(fact: Fact): { labels: Labels; seconds: number } | undefined {
    const one = this.#begun.get(fact)
    this.#begun.delete(fact)
    return one && { labels: one.labels, seconds: secondsSince(one.since) }
  }

  /**
   * Returns the number of operations and the age of the oldest operation in seconds, for each
   * labels object. Two objects count separately, even if their labels are equal.
   */
  counts(): Map<Labels, { count: number; oldest: number }> {
    const counts = new Map<Labels, { count: number; oldest: number }>()
    // The map contains the operations in the order in which they began, so the first operation of
    // each labels object is the oldest.
    for (const { labels, since } of this.#begun.values()) {
      const one = counts.get(labels)
      if (one === undefined) counts.set(labels, { count: 1, oldest: secondsSince(since) })
      else one.count += 1
    }
    return counts
  }
}

function secondsSince(since: number): number {
  return (performance.now() - since) / 1_000
}
