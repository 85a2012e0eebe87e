import type { Owner } from '../owner/owner.ts'
import type { Waiter } from './waiter.ts'

/** Everybody in one client who wants one lock: those who try once, and those who queue for it. */
export class WaitingRoom {
  readonly #all = new Set<Waiter>()
  readonly #queue = new Set<Waiter>()

  get isEmpty(): boolean {
    return this.#all.size === 0
  }

  /** Whether several want it. */
  get isShared(): boolean {
    return this.#all.size > 1
  }

  /** Whose turn it is. */
  get first(): Waiter | undefined {
    return this.#queue.values().next().value
  }

  enter(waiter: Waiter): void {
    this.#all.add(waiter)
  }

  queue(waiter: Waiter): void {
    this.#queue.add(waiter)
  }

  /** No turn will come for it; it is still waited for. */
  unqueue(waiter: Waiter): void {
    this.#queue.delete(waiter)
  }

  leave(waiter: Waiter): void {
    this.#all.delete(waiter)
    this.#queue.delete(waiter)
  }

  has(owner: Owner): boolean {
    for (const waiter of this.#all) if (waiter.request.owner === owner) return true
    return false
  }

  /** Those in the queue who wait for the same owner as this one. */
  queuedWith(waiter: Waiter): Waiter[] {
    const { owner } = waiter.request
    return [...this.#queue].filter((one) => one !== waiter && one.request.owner === owner)
  }

  rejectAll(reason: Error): void {
    for (const waiter of [...this.#all]) waiter.reject(reason)
  }
}
