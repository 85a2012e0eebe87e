/** What has begun and not ended, each with its moment, by the labels that it is counted under. */
export class UnderWay<Fact extends object, Labels> {
  readonly #begun = new Map<Fact, { readonly labels: Labels; readonly since: number }>()

  begin(fact: Fact, labels: Labels): void {
    this.#begun.set(fact, { labels, since: performance.now() })
  }

  /** @returns the labels, and since when in seconds; undefined for what was not seen to begin */
  end(fact: Fact): { labels: Labels; seconds: number } | undefined {
    const one = this.#begun.get(fact)
    this.#begun.delete(fact)
    return one && { labels: one.labels, seconds: secondsSince(one.since) }
  }

  /** How many there are of each, and how old the oldest is, in seconds. Labels are the same if they are the same object. */
  counts(): Map<Labels, { count: number; oldest: number }> {
    const counts = new Map<Labels, { count: number; oldest: number }>()
    // In the order in which they began: the first of each is its oldest.
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
