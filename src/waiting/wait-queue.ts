import { LinkedList } from '../kit/linked-list.ts'
import type { Owner } from '../owner/owner.ts'
import type { Waiter } from './waiter.ts'

/**
 * If a lock has more waiters than this, the queue counts the waiters of each owner. A search for an
 * owner then reads the counts instead of all waiters.
 */
const FEW = 32

/**
 * All waiters of one client for one lock. Some waiters are in a line of this object: the queue,
 * `aside` or `beside`. The other waiters ask once, re-enter, or are in the queue on the server.
 */
export class WaitQueue {
  readonly #queue = new LinkedList<Waiter>()
  /**
   * Two more lines, which most locks never need. `aside` has the waiters of kinds with
   * `waitsAside`. `beside` has the waiters of owners that hold the lock as another kind.
   */
  #more: { readonly aside: LinkedList<Waiter>; readonly beside: LinkedList<Waiter> } | undefined
  /** The waiters that are in no line. */
  readonly #others = new LinkedList<Waiter>()
  /**
   * The number of waiters of each owner. Undefined until there are more than `FEW` waiters, and
   * again when there are none.
   */
  #counts: Map<Owner, number> | undefined

  get isEmpty(): boolean {
    return this.size === 0
  }

  /** True if this client has several waiters for the lock. */
  get hasSeveral(): boolean {
    return this.size > 1
  }

  /**
   * True if no other waiter at the front of the queue must still send a request of this kind. This
   * waiter then tells the server that the client needs no further place for this kind.
   */
  isLastOfKind(waiter: Waiter): boolean {
    if (this.#queue.size < 2) return true
    const { kind } = waiter.request
    for (const one of this.#queue) {
      // A waiter behind a waiter of another kind sends its request only after that waiter.
      if (!kind.isCounted && one.request.kind !== kind) return true
      if (one !== waiter && !one.asking) return false
    }
    return true
  }

  /**
   * Returns the waiters at the front of the queue that may hold the lock together, because their
   * kinds are shared.
   */
  sharedAtFront(): Waiter[] {
    const some: Waiter[] = []
    for (const one of this.#queue) {
      if (!one.request.kind.isShared) break
      some.push(one)
    }
    return some
  }

  /** The first waiter of the queue. Usually this waiter sends the next request. */
  get first(): Waiter | undefined {
    return this.#queue.first
  }

  /** The waiter behind the first waiter of the queue. */
  get second(): Waiter | undefined {
    return this.#queue.first?.after
  }

  /** The first waiter of the kinds with `waitsAside`. */
  get firstAside(): Waiter | undefined {
    return this.#more?.aside.first
  }

  /**
   * The first waiter of an owner that holds the lock as another kind. Waiters in the queue may have
   * to wait for this owner, so this waiter must not wait behind the queue.
   */
  get firstBeside(): Waiter | undefined {
    return this.#more?.beside.first
  }

  /** The waiter that has waited longest, among the first waiters of all lists. */
  get oldest(): Waiter | undefined {
    const firsts = [this.first, this.firstAside, this.firstBeside, this.#others.first]
    return firsts.reduce((a, b) => (a && b ? (b.waitedMs > a.waitedMs ? b : a) : (a ?? b)))
  }

  /** True if no waiter is in a line. The lock may still have other waiters. */
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

  /** Moves the waiter from its line to the waiters in no line. */
  unqueue(waiter: Waiter): void {
    if (waiter.list !== undefined) this.#others.add(waiter)
  }

  remove(waiter: Waiter): void {
    if (waiter.list === undefined) return
    waiter.list.remove(waiter)
    if (this.isEmpty) this.#counts = undefined
    else if (this.#counts !== undefined) this.#count(waiter, -1)
  }

  has(owner: Owner): boolean {
    if (this.#counts !== undefined) return this.#counts.has(owner)
    return this.all.some(({ request }) => request.owner === owner)
  }

  /** Returns the other waiters of the same owner that are in a line. */
  queuedWith(waiter: Waiter): Waiter[] {
    const { owner } = waiter.request
    if (this.isEmpty || !this.has(owner)) return []
    return this.#inLines.filter((one) => one !== waiter && one.request.owner === owner)
  }

  /** @param isMeant selects the waiters to reject; by default all waiters */
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
