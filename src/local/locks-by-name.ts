import { LinkedList } from '../kit/linked-list.ts'
import type { LocalLock } from './local-lock.ts'

/**
 * The largest number of idle locks in memory. If there are more, `LocksByName` removes the lock
 * that has been idle longest.
 */
const MOST_IDLE = 512

/** The local locks of one client by name, including locks that became idle recently. */
export class LocksByName {
  readonly #all = new Map<string, LocalLock>()
  /** Idle locks. The lock that became idle last is at the end. */
  readonly #idle = new LinkedList<LocalLock>()

  get size(): number {
    return this.#all.size
  }

  values(): Iterable<LocalLock> {
    return this.#all.values()
  }

  /** Returns the local lock; undefined if this client does not use the lock now. */
  inUse(rawName: string): LocalLock | undefined {
    const lock = this.#all.get(rawName)
    return lock?.isIdle ? undefined : lock
  }

  /**
   * Returns the local lock, and removes it from the idle locks. Undefined if there is no such local
   * lock.
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
   * Marks a lock as idle. If too many locks are idle, removes the lock that has been idle longest.
   */
  becameIdle(lock: LocalLock): void {
    this.#idle.add(lock)
    const { first } = this.#idle
    if (this.#idle.size <= MOST_IDLE || first === undefined) return
    this.#idle.remove(first)
    // A lock that is in use again stays in the map. A newer local lock with this name also stays.
    if (first.isIdle && this.#all.get(first.rawName) === first) this.#all.delete(first.rawName)
  }
}
