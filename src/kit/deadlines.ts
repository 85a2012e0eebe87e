/** An item with a due time. An item can be in one heap at a time. */
export interface Dated {
  dueAt: number
  /** The index in the heap; -1 if the item is in no heap. */
  place: number
}

/**
 * Items in the order of their due times, in a binary heap. Usually a new item has the latest due
 * time. So its addition and its removal take only one or two steps.
 */
export class Deadlines<T extends Dated> {
  readonly #heap: T[] = []

  /** The item that is due first; undefined if there is no item. */
  get first(): T | undefined {
    return this.#heap[0]
  }

  /** Adds the item, or changes its due time. */
  set(one: T, dueAt: number): void {
    one.dueAt = dueAt
    if (one.place === -1) {
      one.place = this.#heap.length
      this.#heap.push(one)
    }
    this.#up(one)
    this.#down(one)
  }

  remove(one: T): void {
    const { place } = one
    if (this.#heap[place] !== one) return
    one.place = -1
    const last = this.#heap.pop() as T
    if (last === one) return
    this.#put(last, place)
    this.#up(last)
    this.#down(last)
  }

  #put(one: T, place: number): void {
    this.#heap[place] = one
    one.place = place
  }

  #up(one: T): void {
    let { place } = one
    while (place > 0) {
      const before = (place - 1) >> 1
      const other = this.#heap[before] as T
      if (other.dueAt <= one.dueAt) break
      this.#put(other, place)
      place = before
    }
    this.#put(one, place)
  }

  #down(one: T): void {
    let { place } = one
    for (;;) {
      const left = 2 * place + 1
      const right = this.#heap[left + 1]
      let next = this.#heap[left]
      if (next === undefined) break
      if (right !== undefined && right.dueAt < next.dueAt) next = right
      if (next.dueAt >= one.dueAt) break
      const after = next.place
      this.#put(next, place)
      place = after
    }
    this.#put(one, place)
  }
}
