/** What a server remembers of requests by their names, each until a moment on its clock. */
export class RequestRecord {
  readonly #all = new Map<string, { readonly result: number | 'returned'; endsAt: number }>()
  /** None ends before. */
  #firstEndsAt = Infinity

  get size(): number {
    return this.#all.size
  }

  /** What came of it; undefined where that is not remembered. */
  get(id: string): number | 'returned' | undefined {
    return this.#all.get(id)?.result
  }

  set(id: string, result: number | 'returned', endsAt: number): void {
    this.#all.set(id, { result, endsAt })
    this.#firstEndsAt = Math.min(this.#firstEndsAt, endsAt)
  }

  /** It is remembered for longer, where it still is. */
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
