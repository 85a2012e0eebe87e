/** The results of requests by their ids, each remembered until a moment on the server's clock. */
export class RequestRecord {
  readonly #all = new Map<string, { readonly result: number | 'returned'; endsAt: number }>()
  /** No request is forgotten before this moment. */
  #firstEndsAt = Infinity

  get size(): number {
    return this.#all.size
  }

  /** The result of the request; undefined if it is not remembered. */
  get(id: string): number | 'returned' | undefined {
    return this.#all.get(id)?.result
  }

  set(id: string, result: number | 'returned', endsAt: number): void {
    this.#all.set(id, { result, endsAt })
    this.#firstEndsAt = Math.min(this.#firstEndsAt, endsAt)
  }

  /** Remembers the request for longer, if it is still remembered. */
  keep(id: string, endsAt: number): void {
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
