import type { Public } from '../../kit/public.ts'
import type { ReadWriteFacts } from '../../servers/facts.ts'
import type { BaseLock } from '../lock/base-lock.ts'
import { type HoldfastLock, handleOf, type Lock } from '../lock/holdfast-lock.ts'
import type { HeldUpgradableLease, UpgradableLease } from './upgradable-lease.ts'

interface Sides {
  readonly reading: HoldfastLock
  readonly upgrading: HoldfastLock
  readonly writing: HoldfastLock
  inspect(): Promise<ReadWriteFacts>
}

/** The methods that return a lease, or pass a lease to a function. */
type AcquireMethod = 'lock' | 'tryLock' | 'using' | 'tryUsing'

/** The upgradable side of a read-write lock: a {@link Lock} whose leases have `upgrade()` and `tryUpgrade()`. */
export interface UpgradableLock
  extends Pick<BaseLock<UpgradableLease, HeldUpgradableLease>, AcquireMethod>,
    Omit<Lock, AcquireMethod> {}

/**
 * A lock that many readers hold together, or one writer alone. Redisson has the same lock as `RReadWriteLock`.
 *
 * All sides have the methods of every lock: leases, the watchdog, `using`, re-entry, waits and aborts. Each reader has
 * its own lease, so if a reader crashes, only that lease must expire. While a writer waits, new readers wait too.
 * Readers that waited during a write are admitted before the next writer. Clients of Redisson do not follow this order:
 * they read together with other readers, even when a writer waits.
 *
 * The token of a writer is greater than the tokens of all earlier writers. A reader usually has the token of the last
 * writer.
 *
 * A writer may read too, and keeps reading after it releases the write lock. Code that holds the read lock cannot
 * acquire the write lock, because the code would wait for itself: the call rejects with `UpgradeError`. To read first
 * and write later, use `upgrade()` of a lease of the upgradable lock.
 */
export interface ReadWriteLock extends Public<HoldfastReadWriteLock> {}

/** The object behind a {@link ReadWriteLock}. */
export class HoldfastReadWriteLock {
  /** The name that `getReadWriteLock` received. */
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
    // The leases of this side have `upgrade()`, which the type of a lock does not show.
    this.#upgradableLock = handleOf(sides.upgrading) as UpgradableLock
    this.#writeLock = handleOf(sides.writing)
  }

  /**
   * Returns the read lock. Several owners can hold this lock together, while no other owner writes.
   */
  readLock(): Lock {
    return this.#readLock
  }

  /**
   * Returns the upgradable lock, to read first and write later. One owner at a time can hold this
   * lock, together with readers. `upgrade()` of its lease, or the write lock of the same owner,
   * waits until the other readers have released. No other owner can write between the read and the
   * write.
   */
  upgradableLock(): UpgradableLock {
    return this.#upgradableLock
  }

  /** Returns the write lock. One owner at a time can hold this lock, while no other owner reads. */
  writeLock(): Lock {
    return this.#writeLock
  }

  /**
   * Returns the readers or the writer, how long each has held the lock, and the waiting clients. Rejects with
   * `RedisUnavailableError` or `RedisRefusedError` if Redis was down for `outageMs`, and with `ClosedError` after
   * `close()`.
   */
  inspect(): Promise<ReadWriteFacts> {
    return this.#sides.inspect()
  }
}
