interface Entry {
  readonly owner: string
  /** When the owner joined, in µs of the server's time. */
  readonly ticket: number
}

/** A client with places in the queue. */
export interface Mark {
  /** Until when its places count. */
  readonly untilMs: number
  /** True if the server has seen the client listen for grants. */
  readonly seen: boolean
  readonly label: string
}

/** The waiters of one fair lock, and until when the places of each client count. */
export class QueueRecord {
  /** In the order of tickets, and then of owner ids. */
  readonly #entries: Entry[] = []
  readonly #byOwner = new Map<string, Entry>()
  readonly #marks = new Map<string, Mark>()
  /** The shorter claim windows that some owners want, in milliseconds. */
  readonly #claims = new Map<string, number>()
  #endsAt = Infinity
  #marksEndAt = Infinity

  get size(): number {
    return this.#entries.length
  }

  get isForgotten(): boolean {
    return this.size === 0 && this.#marks.size === 0 && this.#claims.size === 0
  }

  get first(): Entry | undefined {
    return this.#entries[0]
  }

  get last(): Entry | undefined {
    return this.#entries.at(-1)
  }

  get(owner: string): Entry | undefined {
    return this.#byOwner.get(owner)
  }

  /** @param most how many are returned at most */
  head(most: number): readonly Entry[] {
    return this.#entries.slice(0, most)
  }

  /** @returns true if the owner was not in the queue yet */
  add(owner: string, ticket: number): boolean {
    if (this.#byOwner.has(owner)) return false
    const entry = { owner, ticket }
    let at = this.#entries.length
    // A new owner is usually the last.
    while (at > 0 && isBefore(entry, this.#entries[at - 1] as Entry)) at -= 1
    this.#entries.splice(at, 0, entry)
    this.#byOwner.set(owner, entry)
    return true
  }

  remove(owner: string): void {
    this.#claims.delete(owner)
    const entry = this.#byOwner.get(owner)
    if (entry === undefined) return
    this.#byOwner.delete(owner)
    this.#entries.splice(this.#entries.indexOf(entry), 1)
    if (this.size === 0) this.#endsAt = Infinity
  }

  claimMs(owner: string): number | undefined {
    return this.#claims.get(owner)
  }

  claimsWithin(owner: string, ms: number): void {
    this.#claims.set(owner, ms)
  }

  mark(client: string): Mark | undefined {
    return this.#marks.get(client)
  }

  /** Keeps the places of that client until `mark.untilMs`. */
  setMark(client: string, mark: Mark, now: number): void {
    this.#marks.set(client, mark)
    for (const [other, { untilMs }] of this.#marks) if (untilMs < now) this.#marks.delete(other)
    for (const owner of this.#claims.keys()) {
      if (!this.#byOwner.has(owner)) this.#claims.delete(owner)
    }
  }

  dropMark(client: string): void {
    this.#marks.delete(client)
  }

  /** Deletes all marks and claim windows. Called when the queue is empty. */
  dropMarks(): void {
    this.#marks.clear()
    this.#claims.clear()
    this.#marksEndAt = Infinity
  }

  /** Sets when all entries expire and, unless `marks` is false, when all marks expire. */
  keepUntil(endsAt: number, { marks = true } = {}): void {
    this.#endsAt = endsAt
    if (marks) this.#marksEndAt = endsAt
  }

  /** Forgets all that has expired. */
  expire(now: number): void {
    if (now > this.#endsAt) {
      this.#entries.length = 0
      this.#byOwner.clear()
      this.#endsAt = Infinity
    }
    if (now > this.#marksEndAt) this.dropMarks()
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.ticket < b.ticket || (a.ticket === b.ticket && a.owner < b.owner)
}
