import { LinkedList } from '../kit/linked-list.ts'
import type { Owner } from '../owner/owner.ts'
import type { Waiter } from './waiter.ts'

/** So many are looked through one by one for those of an owner; of more it is counted. */
const FEW = 32

/**
 * Everybody in one client who wants one lock: those who queue for it here, and others, who try once,
 * re-enter, or wait in turn in Redis.
 */
export class WaitQueue {
  readonly #queue = new LinkedList<Waiter>()
  /** Further lines, which most locks never have: of kinds that wait aside, and of owners that have it as another kind. */
  #more: { readonly aside: LinkedList<Waiter>; readonly beside: LinkedList<Waiter> } | undefined
  readonly #others = new LinkedList<Waiter>()
  /** How many each owner has, while there are many. */
  #counts: Map<Owner, number> | undefined

  get isEmpty(): boolean {
    return this.size === 0
  }

  /** Whether several want it. */
  get isShared(): boolean {
    return this.size > 1
  }

  /** Whether nobody else at the front of the queue wants the same kind and is still to ask, or to ask again. */
  isLastOfKind(waiter: Waiter): boolean {
    if (this.#queue.size < 2) return true
    const { kind } = waiter.request
    for (const one of this.#queue) {
      // Those behind one of another kind do not ask before that one.
      if (!kind.isCounted && one.request.kind !== kind) return true
      if (one !== waiter && !one.asking) return false
    }
    return true
  }

  /** Those at the front who may have it beside each other. */
  sharedAtFront(): Waiter[] {
    const some: Waiter[] = []
    for (const one of this.#queue) {
      if (!one.request.kind.isShared) break
      some.push(one)
    }
    return some
  }

  /** Whose turn it is. */
  get first(): Waiter | undefined {
    return this.#queue.first
  }

  /** The same of those who wait aside. */
  get firstAside(): Waiter | undefined {
    return this.#more?.aside.first
  }

  /** The same of those whose owner has it as another kind: others in here may wait for that owner. */
  get firstBeside(): Waiter | undefined {
    return this.#more?.beside.first
  }

  /** Of the first in each line the one that has waited for longest. */
  get oldest(): Waiter | undefined {
    const firsts = [this.first, this.firstAside, this.firstBeside, this.#others.first]
    return firsts.reduce((a, b) => (a && b ? (b.waitedMs > a.waitedMs ? b : a) : (a ?? b)))
  }

  /** Whether nobody waits in any line. */
  get isQueueEmpty(): boolean {
    return (this.first ?? this.firstAside ?? this.firstBeside) === undefined
  }

  enter(waiter: Waiter): void {
    this.#others.add(waiter)
    if (this.#counts !== undefined) this.#count(waiter, 1)
    else if (this.size > FEW) {
      this.#counts = new Map()
      for (const one of this.all) this.#count(one, 1)
    }
  }

  queue(waiter: Waiter): void {
    const line = waiter.request.kind.waitsAside ? this.#moreLines.aside : this.#queue
    line.add(waiter)
  }

  queueBeside(waiter: Waiter): void {
    this.#moreLines.beside.add(waiter)
  }

  get #moreLines() {
    this.#more ??= { aside: new LinkedList(), beside: new LinkedList() }
    return this.#more
  }

  /** No turn will come for it; it is still waited for. */
  unqueue(waiter: Waiter): void {
    if (waiter.list !== undefined) this.#others.add(waiter)
  }

  leave(waiter: Waiter): void {
    if (waiter.list === undefined) return
    waiter.list.remove(waiter)
    if (this.isEmpty) this.#counts = undefined
    else if (this.#counts !== undefined) this.#count(waiter, -1)
  }

  has(owner: Owner): boolean {
    if (this.#counts !== undefined) return this.#counts.has(owner)
    return this.all.some(({ request }) => request.owner === owner)
  }

  /** Those in the queue who wait for the same owner as this one. */
  queuedWith(waiter: Waiter): Waiter[] {
    const { owner } = waiter.request
    if (this.isEmpty || !this.has(owner)) return []
    return this.#inLines.filter((one) => one !== waiter && one.request.owner === owner)
  }

  /** @param isMeant left out where all are */
  rejectAll(reason: Error, isMeant?: (waiter: Waiter) => boolean): void {
    for (const waiter of this.all) if (isMeant?.(waiter) !== false) waiter.reject(reason)
  }

  get all(): Waiter[] {
    return [...this.#inLines, ...this.#others]
  }

  #count({ request: { owner } }: Waiter, by: number): void {
    const count = (this.#counts?.get(owner) ?? 0) + by
    if (count > 0) this.#counts?.set(owner, count)
    else this.#counts?.delete(owner)
  }

  get #inLines(): Waiter[] {
    const { aside, beside } = this.#more ?? { aside: [], beside: [] }
    return [...beside, ...this.#queue, ...aside]
  }

  get size(): number {
    const more = this.#more
    const size = this.#queue.size + this.#others.size
    return more === undefined ? size : size + more.aside.size + more.beside.size
  }
}
