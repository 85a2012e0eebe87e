/** What can be in a chain, and in one only. */
export abstract class Linked<T extends Linked<T>> {
  /** @internal */
  declare list: LinkedList<T> | undefined
  /** @internal */
  declare before: T | undefined
  /** @internal */
  declare after: T | undefined

  // Fields of a class with many subclasses are slow to define, and quick to assign.
  constructor() {
    this.list = undefined
    this.before = undefined
    this.after = undefined
  }
}

/**
 * Those who come and go by the thousand, in the order in which they came. A `Set` would do, but it
 * makes a new table every few of them, and each table that has grown old keeps those alive that came
 * after it until all of the heap is collected: `npm run bench -- --only a,b`.
 */
export class LinkedList<T extends Linked<T>> {
  #first: T | undefined
  #last: T | undefined
  #size = 0

  get first(): T | undefined {
    return this.#first
  }

  get last(): T | undefined {
    return this.#last
  }

  get size(): number {
    return this.#size
  }

  has(member: T): boolean {
    return member.list === this
  }

  /** Puts it last, out of the chain that it was in. One that is in this chain stays where it is. */
  add(member: T): void {
    if (member.list === this) return
    member.list?.remove(member)
    member.list = this
    member.before = this.#last
    if (this.#last === undefined) this.#first = member
    else this.#last.after = member
    this.#last = member
    this.#size += 1
  }

  remove(member: T): void {
    if (member.list !== this) return
    const { before, after } = member
    if (before === undefined) this.#first = after
    else before.after = after
    if (after === undefined) this.#last = before
    else after.before = before
    member.list = undefined
    member.before = undefined
    member.after = undefined
    this.#size -= 1
  }

  /** In the order in which they came. Nothing may be removed meanwhile: go round a copy. */
  *[Symbol.iterator](): Generator<T> {
    for (let member = this.#first; member !== undefined; member = member.after) yield member
  }
}
