import type { Public } from '../../kit/public.ts'
import type { ReadWriteFacts } from '../../servers/answers.ts'
import type { BaseLock } from '../lock/base-lock.ts'
import { type HoldfastLock, handleOf, type Lock } from '../lock/holdfast-lock.ts'
import type { HeldUpgradableLease, UpgradableLease } from './upgradable-lease.ts'

/** The sides that a read-write lock is made of. */
interface Sides {
  readonly reading: HoldfastLock
  readonly upgrading: HoldfastLock
  readonly writing: HoldfastLock
  /** All of them as Redis has them. */
  inspect(): Promise<ReadWriteFacts>
}

/** The forms in which a lock is acquired. */
type Acquiring = 'lock' | 'tryLock' | 'using' | 'tryUsing'

/** The upgradable side of a read-write lock: a {@link Lock} whose leases have `upgrade()` and `tryUpgrade()`. */
export interface UpgradableLock
  extends Pick<BaseLock<UpgradableLease, HeldUpgradableLease>, Acquiring>,
    Omit<Lock, Acquiring> {}

/**
 * A lock that many may have at once to read, or one to write, as Redisson's `RReadWriteLock` of that name.
 *
 * Both sides are locks with all that every lock has: leases, the watchdog, `using`, re-entry, waits and aborts.
 * Each reader has a lease of its own, so that a crash costs that lease and no more. A waiting writer keeps new
 * readers out. Readers that waited while somebody wrote are let in before the next writer. Clients of Redisson know
 * nothing of that order: they read beside other readers, whoever waits.
 *
 * The token of a writer is above those of all writers before. A reader has the token of the last writer.
 *
 * A writer may read as well, and goes on reading when it has released the lock to write. Code that holds the read
 * lock and asks for the write lock would wait for itself: that is refused with `UpgradeError`. The lease of the
 * upgradable lock has `upgrade()` for that.
 */
export interface ReadWriteLock extends Public<HoldfastReadWriteLock> {}

/** The {@link ReadWriteLock} of a client. */
export class HoldfastReadWriteLock {
  /** The name of the lock, as it was given to `getReadWriteLock`. */
  readonly name: string
  readonly #readLock: Lock
  readonly #upgradableLock: UpgradableLock
  readonly #writeLock: Lock
  readonly #sides: Sides

  /** @internal */
  constructor(name: string, sides: Sides) {
    this.name = name
    this.#sides = sides
    this.#readLock = handleOf(sides.reading)
    // Its waiters make leases of that sort, which the type of its kind does not say.
    this.#upgradableLock = handleOf(sides.upgrading) as UpgradableLock
    this.#writeLock = handleOf(sides.writing)
  }

  /** The lock to read: several owners have it at once, while nobody else writes. */
  readLock(): Lock {
    return this.#readLock
  }

  /**
   * The lock to read first and maybe write then: one owner has it, beside others who read. `upgrade()` of its lease, or
   * the write lock taken by the same owner, waits until the others have read, and lets nobody write between.
   */
  upgradableLock(): UpgradableLock {
    return this.#upgradableLock
  }

  /** The lock to write: one owner has it, while nobody else reads. */
  writeLock(): Lock {
    return this.#writeLock
  }

  /**
   * Who reads or writes, for how long, and which clients have somebody who waits. Rejects with
   * `RedisUnavailableError` or `RedisRefusedError` when Redis was out for `outageMs`, with `ClosedError` after `close()`.
   */
  inspect(): Promise<ReadWriteFacts> {
    return this.#sides.inspect()
  }
}
