import { LinkedList } from '../kit/linked-list.ts'
import type { LocalLock } from './local-lock.ts'

/** At most this many idle locks are kept for their next use: the most recently used. */
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

  /** The lock, if this client holds or wants it. */
  inUse(rawName: string): LocalLock | undefined {
    const lock = this.#all.get(rawName)
    return lock?.isIdle ? undefined : lock
  }

  /** The lock, which is no longer idle, because the caller is about to use it. */
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
   * Called when this client neither holds nor wants the lock, and need remember nothing about it.
   */
  becameIdle(lock: LocalLock): void {
    this.#idle.add(lock)
    const { first } = this.#idle
    if (this.#idle.size <= MOST_IDLE || first === undefined) return
    this.#idle.remove(first)
    // A lock in use is added again later. A forgotten lock may have a successor of the same name.
    if (first.isIdle && this.#all.get(first.rawName) === first) this.#all.delete(first.rawName)
  }
}
