import { LinkedList } from '../kit/linked-list.ts'
import type { LocalLock } from './local-lock.ts'

/** The largest number of idle locks that are kept. The most recently used locks are kept. */
const MOST_IDLE = 512

/** The locks of one client by name: the locks in use, and recently used idle locks. */
export class LocksByName {
  readonly #all = new Map<string, LocalLock>()
  /** The most recently used lock is at the end. */
  readonly #idle = new LinkedList<LocalLock>()

  get size(): number {
    return this.#all.size
  }

  values(): Iterable<LocalLock> {
    return this.#all.values()
  }

  /** Returns the local lock, if this client holds the lock or waits for it. */
  inUse(rawName: string): LocalLock | undefined {
    const lock = this.#all.get(rawName)
    return lock?.isIdle ? undefined : lock
  }

  /**
   * Returns the local lock and marks it as no longer idle, because the caller is about to use it.
   */
  get(rawName: string): LocalLock | undefined {
    const known = this.#all.get(rawName)
    if (known !== undefined) this.#idle.remove(known)
    return known
  }

  add(lock: LocalLock): LocalLock {
    this.#all.set(lock.rawName, lock)
    return lock
  }

  /**
   * Called when this client neither holds the lock nor waits for it, and need not remember anything
   * about it.
   */
  becameIdle(lock: LocalLock): void {
    this.#idle.add(lock)
    const { first } = this.#idle
    if (this.#idle.size <= MOST_IDLE || first === undefined) return
    this.#idle.remove(first)
    // The lock stays in the map if it is in use again. A new lock object of the same name also
    // stays.
    if (first.isIdle && this.#all.get(first.rawName) === first) this.#all.delete(first.rawName)
  }
}
