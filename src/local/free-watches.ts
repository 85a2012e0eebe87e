import type { Emit } from '../events.ts'
import { outsideContexts } from '../kit/outside-contexts.ts'
import { FreeWatch, type Watched } from '../waiting/free-watch.ts'
import { FreeListener, FreeWait, type Reading } from '../waiting/free-watchers.ts'
import { type Limits, RetryBudget } from '../waiting/retry-budget.ts'
import type { WaitLimits } from '../waiting/timed-wait.ts'

/** One lock that callers watch, with the functions that check if it is free. */
export interface Watchable<S> extends Watched<S>, Reading<S> {
  readonly name: string
  /**
   * Locks with the same key share one subscription and one check. The key of a plain lock is its
   * raw name.
   */
  readonly watchKey: string
}

/** The locks of one client that calls of `whenFree` and listeners of `onFree` watch. */
export class FreeWatches {
  readonly #limits: Limits
  readonly #emit: Emit
  readonly #all = new Map<string, FreeWatch<unknown>>()

  constructor(limits: Limits, emit: Emit) {
    this.#limits = limits
    this.#emit = emit
  }

  /**
   * @returns null if the lock was not free in time; otherwise, `waited` is false if the lock was
   * free at once
   */
  wait<S>(lock: Watchable<S>, limits: WaitLimits): Promise<{ waited: boolean } | null> {
    const watch = this.#watchOf(lock)
    const budget = new RetryBudget(lock.name, this.#limits, watch.health)
    const wait: FreeWait<S> = new FreeWait(lock, limits, budget, () => watch.settled(wait))
    outsideContexts(() => watch.add(wait))
    return wait.promise
  }

  /** @returns a function that ends the listening */
  listen<S>(lock: Watchable<S>, listener: () => void): () => void {
    const watch = this.#watchOf(lock)
    const newBudget = () => new RetryBudget(lock.name, this.#limits, watch.health)
    const stop = () => watch.settled(watcher)
    const watcher: FreeListener<S> = new FreeListener(lock, listener, newBudget, (error) =>
      error === undefined ? stop() : this.#emit('error', error),
    )
    outsideContexts(() => watch.add(watcher))
    return stop
  }

  /** True if this client receives a message for each release of that lock. */
  hears(rawName: string): boolean {
    if (this.#all.size === 0) return false
    const watch = this.#all.get(rawName) ?? this.#all.get(sidesOf(rawName))
    return watch?.isConfirmed === true
  }

  close(reason: Error): void {
    for (const watch of [...this.#all.values()]) watch.rejectAll(reason)
  }

  #watchOf<S>(lock: Watchable<S>): FreeWatch<S> {
    const { watchKey } = lock
    let watch = this.#all.get(watchKey)
    if (watch === undefined) {
      watch = new FreeWatch(lock, this.#limits.clock, () => this.#all.delete(watchKey))
      this.#all.set(watchKey, watch)
    }
    return watch as FreeWatch<S>
  }
}

/** The watch key of a read-write lock. All its sides share one watch. */
export const sidesOf = (rawName: string): string => `${rawName}\0sides`
