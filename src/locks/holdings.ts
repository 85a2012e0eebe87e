/**
 * Which leases an `unlock()` could mean: those of an owner, or those that a lock object acquired
 * outside any frame. Each on its lock, in the order of their acquisition.
 */
export class Holdings<L extends object> {
  readonly #byHolder = new WeakMap<object, Map<string, L[]>>()

  add(holder: object, rawName: string, lease: L): void {
    const locks = this.#byHolder.get(holder) ?? new Map<string, L[]>()
    this.#byHolder.set(holder, locks)
    const leases = locks.get(rawName)
    if (leases === undefined) locks.set(rawName, [lease])
    else leases.push(lease)
  }

  remove(holder: object, rawName: string, lease: L): void {
    const locks = this.#byHolder.get(holder)
    const leases = locks?.get(rawName)
    if (leases === undefined) return
    const i = leases.lastIndexOf(lease)
    if (i !== -1) leases.splice(i, 1)
    // The last is kept: a map that is filled and emptied all the time costs more than what is in it.
    if (leases.length === 0 && locks !== undefined && locks.size > 1) locks.delete(rawName)
  }

  /** Nested code undoes its latest acquisition first. */
  latest(holder: object, rawName: string, accepts: (lease: L) => boolean): L | undefined {
    return this.#byHolder.get(holder)?.get(rawName)?.findLast(accepts)
  }

  /**
   * Tasks that share a lock object cannot be told apart. The earliest acquisition comes first: a
   * task that comes late, with its lease lost, then gets its own loss and not another's lock.
   */
  earliest(holder: object, rawName: string): L | undefined {
    return this.#byHolder.get(holder)?.get(rawName)?.at(0)
  }
}
