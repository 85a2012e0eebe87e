import type { Emit } from '../events.ts'
import { outsideContexts } from '../kit/outside-contexts.ts'
import { FreeWatch, type Watched } from '../waiting/free-watch.ts'
import { FreeListener, FreeWait, type Reading } from '../waiting/free-watchers.ts'
import type { Limits } from '../waiting/limits.ts'
import { RetryBudget } from '../waiting/retry-budget.ts'
import type { WaitLimits } from '../waiting/timed-wait.ts'

/** A lock that callers watch without acquiring it. */
export interface Watchable<S> extends Watched<S>, Reading<S> {
  readonly name: string
  /**
   * Locks with the same key share one subscription and one check. For a plain lock, the key is its
   * raw name.
   */
  readonly watchKey: string
}

/** The watches of one client: for calls of `whenFree`, and for listeners of `onFree`. */
export class FreeWatches {
  readonly #limits: Limits
  readonly #emit: Emit
  readonly #all = new Map<string, FreeWatch<unknown>>()

  constructor(limits: Limits, emit: Emit) {
    this.#limits = limits
    this.#emit = emit
  }

  /**
   * Resolves when the lock is free. `waited` is false if the first check found the lock free.
   * Resolves with null if the lock did not become free within `limits`.
   */
  whenFree<S>(lock: Watchable<S>, limits: WaitLimits): Promise<{ waited: boolean } | null> {
    const watch = this.#watchOf(lock)
    const budget = new RetryBudget(lock.name, this.#limits, watch.health)
    const wait: FreeWait<S> = new FreeWait(lock, limits, budget, () => watch.settled(wait))
    outsideContexts(() => watch.add(wait))
    return wait.promise
  }

  /**
   * Calls the listener when a check finds that the lock has become free. Emits `error` once if the
   * checks keep failing.
   *
   * @returns a function that removes the listener
   */
  onFree<S>(lock: Watchable<S>, listener: () => void): () => void {
    const watch = this.#watchOf(lock)
    const newBudget = () => new RetryBudget(lock.name, this.#limits, watch.health)
    const stop = () => watch.settled(watcher)
    const watcher: FreeListener<S> = new FreeListener(lock, listener, newBudget, (error) =>
      error === undefined ? stop() : this.#emit('error', error),
    )
    outsideContexts(() => watch.add(watcher))
    return stop
  }

  /**
   * True if this client watches the lock, and the subscription of the watch is confirmed. The
   * client then receives the messages of the lock.
   */
  listens(rawName: string): boolean {
    if (this.#all.size === 0) return false
    const watch = this.#all.get(rawName) ?? this.#all.get(sidesOf(rawName))
    return watch?.isConfirmed === true
  }

  rejectAll(reason: Error): void {
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

/** Returns the watch key of a read-write lock. All sides of the lock share one watch. */
export const sidesOf = (rawName: string): string => `${rawName}\0sides`
