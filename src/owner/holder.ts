/**
 * Somebody under whom leases are kept. What they keep is theirs, and goes with them: a `WeakMap` of
 * holders that come and go costs the garbage collector more than all else that a lock does.
 */
export abstract class Holder {
  #kept: Map<string, object[]> | undefined

  /** @internal */
  keep(key: string, thing: object): void {
    this.#kept ??= new Map()
    const things = this.#kept.get(key)
    if (things === undefined) this.#kept.set(key, [thing])
    else things.push(thing)
  }

  /** @internal */
  drop(key: string, thing: object): void {
    const things = this.#kept?.get(key)
    if (things === undefined) return
    const i = things.lastIndexOf(thing)
    if (i !== -1) things.splice(i, 1)
    // The last list stays: most holders come back for the same lock.
    if (things.length === 0 && this.#kept !== undefined && this.#kept.size > 1) {
      this.#kept.delete(key)
    }
  }

  /**
   * What is kept there, in the order in which it came.
   *
   * @internal
   */
  kept(key: string): readonly object[] | undefined {
    return this.#kept?.get(key)
  }
}
