interface QueuedOwner {
  readonly owner: string
  /**
   * When the owner joined the queue, in µs of the server's time. It decides the position in the
   * queue.
   */
  readonly ticket: number
}

/** A client that has places in the queue. */
export interface ClientMark {
  /** Until when the client's places count, in milliseconds of the server's time. */
  readonly untilMs: number
  /** True if the server counted the client as a listener of its inbox. */
  readonly seen: boolean
  readonly label: string
}

/** The waiters of one fair lock, and until when the places of each client count. */
export class QueueRecord {
  /** The waiters, sorted by ticket, and by owner if tickets are equal. */
  readonly #entries: QueuedOwner[] = []
  readonly #byOwner = new Map<string, QueuedOwner>()
  readonly #marks = new Map<string, ClientMark>()
  /** The claim windows of owners that want less than `CLAIM_MS`, in milliseconds. */
  readonly #claims = new Map<string, number>()
  #endsAt = Infinity
  #marksEndAt = Infinity

  get size(): number {
    return this.#entries.length
  }

  get isForgotten(): boolean {
    return this.size === 0 && this.#marks.size === 0 && this.#claims.size === 0
  }

  get first(): QueuedOwner | undefined {
    return this.#entries[0]
  }

  get last(): QueuedOwner | undefined {
    return this.#entries.at(-1)
  }

  get(owner: string): QueuedOwner | undefined {
    return this.#byOwner.get(owner)
  }

  /** Returns the first waiters of the queue, at most `most`. */
  head(most: number): readonly QueuedOwner[] {
    return this.#entries.slice(0, most)
  }

  /** @returns true if the owner was not in the queue before */
  add(owner: string, ticket: number): boolean {
    if (this.#byOwner.has(owner)) return false
    const entry = { owner, ticket }
    let at = this.#entries.length
    // The search begins at the end, because a new owner usually belongs there.
    while (at > 0 && isBefore(entry, this.#entries[at - 1] as QueuedOwner)) at -= 1
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

  mark(client: string): ClientMark | undefined {
    return this.#marks.get(client)
  }

  /**
   * Keeps the places of a client until `mark.untilMs`. Also removes the expired marks of other
   * clients.
   */
  setMark(client: string, mark: ClientMark, now: number): void {
    this.#marks.set(client, mark)
    for (const [other, { untilMs }] of this.#marks) if (untilMs < now) this.#marks.delete(other)
    for (const owner of this.#claims.keys()) {
      if (!this.#byOwner.has(owner)) this.#claims.delete(owner)
    }
  }

  dropMark(client: string): void {
    this.#marks.delete(client)
  }

  /** Deletes the marks of all clients, and all claim windows. Called when the queue is empty. */
  dropMarks(): void {
    this.#marks.clear()
    this.#claims.clear()
    this.#marksEndAt = Infinity
  }

  /**
   * Sets when the whole queue expires, in milliseconds of the server's time. Unless `marks` is
   * false, the marks expire then too.
   */
  extendUntil(endsAt: number, { marks = true } = {}): void {
    this.#endsAt = endsAt
    if (marks) this.#marksEndAt = endsAt
  }

  /** Deletes all parts that have expired. */
  expire(now: number): void {
    if (now > this.#endsAt) {
      this.#entries.length = 0
      this.#byOwner.clear()
      this.#endsAt = Infinity
    }
    if (now > this.#marksEndAt) this.dropMarks()
  }
}

function isBefore(a: QueuedOwner, b: QueuedOwner): boolean {
  return a.ticket < b.ticket || (a.ticket === b.ticket && a.owner < b.owner)
}
