/** An item with a due time. At most one heap contains the item at a time. */
export interface Dated {
  dueAt: number
  /** The index of the item in its heap; -1 if no heap contains the item. */
  heapIndex: number
}

/**
 * Items in the order of their due times, in a binary heap. A new item usually has the latest due
 * time, so its addition and its removal take only one or two steps.
 */
export class Deadlines<T extends Dated> {
  readonly #heap: T[] = []

  /** The item with the earliest due time; undefined if there are no items. */
  get first(): T | undefined {
    return this.#heap[0]
  }

  set(one: T, dueAt: number): void {
    one.dueAt = dueAt
    if (one.heapIndex === -1) {
      one.heapIndex = this.#heap.length
      this.#heap.push(one)
    }
    this.#up(one)
    this.#down(one)
  }

  remove(one: T): void {
    const { heapIndex: index } = one
    if (this.#heap[index] !== one) return
    one.heapIndex = -1
    const last = this.#heap.pop() as T
    if (last === one) return
    this.#put(last, index)
    this.#up(last)
    this.#down(last)
  }

  #put(one: T, index: number): void {
    this.#heap[index] = one
    one.heapIndex = index
  }

  #up(one: T): void {
    let { heapIndex: index } = one
    while (index > 0) {
      const before = (index - 1) >> 1
      const other = this.#heap[before] as T
      if (other.dueAt <= one.dueAt) break
      this.#put(other, index)
      index = before
    }
    this.#put(one, index)
  }

  #down(one: T): void {
    let { heapIndex: index } = one
    for (;;) {
      const child = 2 * index + 1
      const right = this.#heap[child + 1]
      let next = this.#heap[child]
      if (next === undefined) break
      if (right !== undefined && right.dueAt < next.dueAt) next = right
      if (next.dueAt >= one.dueAt) break
      const after = next.heapIndex
      this.#put(next, index)
      index = after
    }
    this.#put(one, index)
  }
}
