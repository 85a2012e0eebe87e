/** Somebody under whom leases are kept, and with whom they go. */
export abstract class Holder {
  // Not in a `WeakMap` of holders: most of them come and go, and it costs the garbage collector more
  // than all else that a lock does.
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
    const kept = this.#kept
    const things = kept?.get(key)
    if (kept === undefined || things === undefined) return
    const i = things.lastIndexOf(thing)
    if (i !== -1) things.splice(i, 1)
    // The last list stays: most holders come back for the same lock.
    if (things.length === 0 && kept.size > 1) kept.delete(key)
  }

  /**
   * What is kept there, in the order in which it came; empty or undefined for nothing.
   *
   * @internal
   */
  kept(key: string): readonly object[] | undefined {
    return this.#kept?.get(key)
  }
}
