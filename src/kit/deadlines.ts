/** An item with a due time. An item can be in one heap at a time. */
export interface Dated {
  dueAt: number
  /** The index in the heap; -1 if the item is in no heap. */
  heapIndex: number
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
