interface Entry {
  readonly owner: string
  /** The server's time in µs when it came. */
  readonly ticket: number
}

/** What is known of a client that has places. */
export interface Mark {
  /** Until when they count. */
  readonly untilMs: number
  /** Whether it was seen to listen for grants. */
  readonly seen: boolean
  readonly label: string
}

/** Those who wait for one lock in turn, and until when each client's places count. */
export class QueueRecord {
  /** By ticket; those of one ticket by owner. */
  readonly #entries: Entry[] = []
  readonly #byOwner = new Map<string, Entry>()
  readonly #marks = new Map<string, Mark>()
  /** Of those who want a shorter claim window than others, in milliseconds. */
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

  /** @param most so many of them */
  head(most: number): readonly Entry[] {
    return this.#entries.slice(0, most)
  }

  /** @returns whether it was not there yet */
  add(owner: string, ticket: number): boolean {
    if (this.#byOwner.has(owner)) return false
    const entry = { owner, ticket }
    let at = this.#entries.length
    // Whoever comes mostly comes last.
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

  /** Until then the places of that client count. */
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

  /** Nobody has to be remembered who is not in the queue. */
  dropMarks(): void {
    this.#marks.clear()
    this.#claims.clear()
    this.#marksEndAt = Infinity
  }

  /** All of it is kept until then, if nothing more comes. */
  keepUntil(endsAt: number, { marks = true } = {}): void {
    this.#endsAt = endsAt
    if (marks) this.#marksEndAt = endsAt
  }

  /** Forgets what nobody has kept. */
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
