/**
 * The results of requests, by request id. Each result has an expiry in milliseconds of the server's
 * time.
 */
export class RequestRecord {
  readonly #all = new Map<string, { readonly result: number | 'returned'; endsAt: number }>()
  /** Until this time no result expires, so `expire` has nothing to do. */
  #firstEndsAt = Infinity

  get size(): number {
    return this.#all.size
  }

  /** Returns the result of a request; undefined if the server does not remember the request. */
  get(id: string): number | 'returned' | undefined {
    return this.#all.get(id)?.result
  }

  set(id: string, result: number | 'returned', endsAt: number): void {
    this.#all.set(id, { result, endsAt })
    this.#firstEndsAt = Math.min(this.#firstEndsAt, endsAt)
  }

  /** Remembers the request until `endsAt`, if the server has not forgotten it. */
  prolong(id: string, endsAt: number): void {
    const request = this.#all.get(id)
    if (request !== undefined) request.endsAt = endsAt
  }

  forget(ids: Iterable<string>): void {
    for (const id of ids) this.#all.delete(id)
  }

  expire(now: number): void {
    if (now <= this.#firstEndsAt) return
    this.#firstEndsAt = Infinity
    for (const [id, { endsAt }] of this.#all) {
      if (now > endsAt) this.#all.delete(id)
      else this.#firstEndsAt = Math.min(this.#firstEndsAt, endsAt)
    }
  }
}
