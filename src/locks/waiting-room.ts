import { Chain } from '../lease/chain.ts'
import type { Owner } from '../owner/owner.ts'
import type { Waiter } from './waiter.ts'

/**
 * Everybody in one client who wants one lock: those who queue for it here, and others, who try once,
 * re-enter, or wait in turn in Redis.
 */
export class WaitingRoom {
  readonly #queue = new Chain<Waiter>()
  readonly #others = new Chain<Waiter>()

  get isEmpty(): boolean {
    return this.#size === 0
  }

  /** Whether several want it. */
  get isShared(): boolean {
    return this.#size > 1
  }

  /** Whose turn it is. */
  get first(): Waiter | undefined {
    return this.#queue.first
  }

  enter(waiter: Waiter): void {
    this.#others.add(waiter)
  }

  queue(waiter: Waiter): void {
    this.#queue.add(waiter)
  }

  /** No turn will come for it; it is still waited for. */
  unqueue(waiter: Waiter): void {
    if (this.#queue.has(waiter)) this.#others.add(waiter)
  }

  leave(waiter: Waiter): void {
    waiter.chain?.remove(waiter)
  }

  has(owner: Owner): boolean {
    for (const waiter of this.#queue) if (waiter.request.owner === owner) return true
    for (const waiter of this.#others) if (waiter.request.owner === owner) return true
    return false
  }

  /** Those in the queue who wait for the same owner as this one. */
  queuedWith(waiter: Waiter): Waiter[] {
    const { owner } = waiter.request
    return [...this.#queue].filter((one) => one !== waiter && one.request.owner === owner)
  }

  rejectAll(reason: Error): void {
    for (const waiter of [...this.#queue, ...this.#others]) waiter.reject(reason)
  }

  get #size(): number {
    return this.#queue.size + this.#others.size
  }
}
