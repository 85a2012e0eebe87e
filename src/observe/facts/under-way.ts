/** The operations that have begun and not ended, with their start times and their labels. */
export class UnderWay<Fact extends object, Labels> {
  readonly #begun = new Map<Fact, { readonly labels: Labels; readonly since: number }>()

  begin(fact: Fact, labels: Labels): void {
    this.#begun.set(fact, { labels, since: performance.now() })
  }

  /** @returns the labels, and the duration in seconds; undefined without a call of `begin` */
  end(fact: Fact): { labels: Labels; seconds: number } | undefined {
    const one = this.#begun.get(fact)
    this.#begun.delete(fact)
    return one && { labels: one.labels, seconds: secondsSince(one.since) }
  }

  /**
   * For each labels object: the number of operations, and the age of the oldest operation in
   * seconds. Two objects with equal labels are counted separately.
   */
  counts(): Map<Labels, { count: number; oldest: number }> {
    const counts = new Map<Labels, { count: number; oldest: number }>()
    // The map keeps the order of the begins, so the first operation of each label is the oldest.
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
