import { LinkedList } from '../kit/linked-list.ts'
import type { LocalLock } from './local-lock.ts'

/** This many idle locks are kept for their next use: those that were used last. */
const MOST_IDLE = 512

/** The locks of one client by their names: those in use, and those that have become idle lately. */
export class LocksByName {
  readonly #all = new Map<string, LocalLock>()
  /** Those that nobody has or wants. The one that was used last is at the end. */
  readonly #idle = new LinkedList<LocalLock>()

  get size(): number {
    return this.#all.size
  }

  values(): Iterable<LocalLock> {
    return this.#all.values()
  }

  /** The lock of that name if somebody has or wants it. */
  inUse(rawName: string): LocalLock | undefined {
    const lock = this.#all.get(rawName)
    return lock?.isIdle ? undefined : lock
  }

  /** The lock of that name, which is about to be used. */
  get(rawName: string): LocalLock | undefined {
    const known = this.#all.get(rawName)
    if (known !== undefined) this.#idle.remove(known)
    return known
  }

  add(lock: LocalLock): LocalLock {
    this.#all.set(lock.rawName, lock)
    return lock
  }

  /** Nobody has or wants the lock, and there is nothing to remember of it. */
  becameIdle(lock: LocalLock): void {
    this.#idle.add(lock)
    const { first } = this.#idle
    if (this.#idle.size <= MOST_IDLE || first === undefined) return
    this.#idle.remove(first)
    // One that is in use again comes back; and one that was forgotten may have a successor.
    if (first.isIdle && this.#all.get(first.rawName) === first) this.#all.delete(first.rawName)
  }
}
