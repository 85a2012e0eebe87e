import type { Emit } from '../events.ts'
import { outsideContexts } from '../kit/outside-contexts.ts'
import { FreeWatch, type Watched } from '../waiting/free-watch.ts'
import { FreeListener, FreeWait, type Reading } from '../waiting/free-watchers.ts'
import { type Limits, RetryBudget } from '../waiting/retry-budget.ts'
import type { WaitLimits } from '../waiting/timed-wait.ts'

/** One lock, and how one who watches it reads whether it is free. */
export interface Watchable<S> extends Watched<S>, Reading<S> {
  readonly name: string
  /** Those with the same key share their looks. For a plain lock it is the raw name. */
  readonly watchKey: string
}

/** The locks of one client that somebody watches until they are free. */
export class FreeWatches {
  readonly #limits: Limits
  readonly #emit: Emit
  readonly #all = new Map<string, FreeWatch<unknown>>()

  constructor(limits: Limits, emit: Emit) {
    this.#limits = limits
    this.#emit = emit
  }

  /** @returns null if it was not free in time; and otherwise whether it was not free at once */
  wait<S>(lock: Watchable<S>, limits: WaitLimits): Promise<{ waited: boolean } | null> {
    const watch = this.#watchOf(lock)
    const budget = new RetryBudget(lock.name, this.#limits, watch.health)
    const wait: FreeWait<S> = new FreeWait(lock, limits, budget, () => watch.settled(wait))
    outsideContexts(() => watch.add(wait))
    return wait.promise
  }

  /** @returns ends it */
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

  /** Whether this client hears of each release of that lock. */
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

/** The key of a read-write lock, whose sides are watched together. */
export const sidesOf = (rawName: string): string => `${rawName}\0sides`
