import type { WhyNotAcquired } from '../../errors.ts'
import type { Emit } from '../../events.ts'
import type { Clock } from '../../kit/clock.ts'
import { Printed } from '../../kit/printed.ts'
import type { BaseLease } from '../../lease/base-lease.ts'
import {
  type Acquisition,
  type Defaults,
  lockArguments,
  otherwiseOf,
  tryLockArguments,
  tryUsingOptions,
  usingOptions,
} from '../../options/acquisition.ts'
import { assertFunction } from '../../options/input.ts'
import type { LockOptions, TryLockOptions, TryUsingOptions } from '../../options/options.ts'
import type { CurrentOwner } from '../../owner/current-owner.ts'
import type { Carried } from '../../owner/frames.ts'
import { lockTimeout } from '../../waiting/wait-timeout-error.ts'
import { runWhileHeld } from './run-while-held.ts'
import { endedByUnlock } from './unlock-errors.ts'

/** The members of the locks of a client that a lock object needs. */
interface Registry {
  readonly defaults: Defaults
  readonly clock: Clock
  readonly emit: Emit
  assertOpen(lockName: string): void
}

/**
 * The common part of one lock and of several locks as one: the methods that acquire and release. For several locks,
 * "the lock" means all of them, because they are acquired and held together.
 */
export abstract class BaseLock<L extends object, K extends BaseLease> extends Printed {
  /** The name of the lock, as it was given to `getLock`; for several locks, their names with ` + ` between them. */
  readonly name: string
  /** @internal */
  readonly registry: Registry
  /** @internal */
  readonly currentOwner: CurrentOwner<K>

  /** @internal */
  constructor(name: string, registry: Registry, currentOwner: CurrentOwner<K>) {
    super()
    this.name = name
    this.registry = registry
    this.currentOwner = currentOwner
  }

  /** The lock as logs and JSON show it. */
  toJSON(): Record<string, unknown> {
    return { name: this.name }
  }

  /**
   * Acquires the lock. The longest wait is `waitMs`; for several locks, this is the time for all of them. If neither
   * the call nor the client sets `waitMs`, it waits forever. The message of a release wakes the waiter. If the holder
   * crashes, the end of its lease wakes the waiter.
   *
   * @param options a fixed lease in milliseconds, or options. Without a lease the watchdog renews it until the release
   * @returns the lease. Rejects with `signal.reason` when aborted, with `WaitTimeoutError` at the end of `waitMs`, and
   * with `InvalidArgumentError` for invalid input. Rejects with `RedisUnavailableError` or `RedisRefusedError` if
   * Redis was down for `outageMs`. Rejects with `LeaseLostError` if it re-enters a hold that turns out to be lost, and
   * with `ClosedError` after `close()`. After a rejection nothing is held or left behind.
   */
  lock(options?: LockOptions | number): Promise<L>
  lock(options?: LockOptions | number, ...others: never[]): Promise<L> {
    // Not an `async` function, because that would create one more promise for each call.
    try {
      const meant = lockArguments(options, others, this.registry.defaults)
      const acquiring = this.acquireBare(meant)
      if (meant.waitMs === Infinity) return acquiring as Promise<L>
      return this.orTimeout(acquiring, meant)
    } catch (error) {
      this.currentOwner.gotNothing()
      return Promise.reject(error)
    }
  }

  /**
   * Acquires the lock if that is possible in the given time, which is one time for all of several locks. `tryLock()`
   * asks once, `tryLock(waitMs)` waits at most that long, `tryLock(waitMs, leaseMs)` also sets a fixed lease.
   *
   * @returns the lease. Null if another owner holds the lock; for several locks, if another owner holds one of them.
   * Also null if `waitMs` is shorter than an answer usually takes, and ended before the answer. After an outage it is
   * never null: the call rejects as {@link lock} does, at the latest at the end of `waitMs`.
   */
  tryLock(waitMs?: number, leaseMs?: number): Promise<L | null>
  tryLock(options: TryLockOptions): Promise<L | null>
  tryLock(
    first?: number | TryLockOptions,
    leaseMs?: number,
    ...others: never[]
  ): Promise<L | null> {
    try {
      return this.acquireBare(tryLockArguments(first, leaseMs, others, this.registry.defaults))
    } catch (error) {
      this.currentOwner.gotNothing()
      return Promise.reject(error)
    }
  }

  /**
   * Runs `fn` while it holds the lock, in a frame that carries this lock only. All code inside re-enters the lock,
   * with any method and through any lock object of this client, until `fn` ends. For several locks, code inside also
   * re-enters each of them alone.
   *
   * @param options as for {@link lock}
   * @returns the result of `fn`. Rejects with the error of `fn`, and as {@link lock} does if the lock is not acquired.
   * Rejects with `LeaseLostError` if the lease was lost before `fn` ended, and with `NotReleasedError` if several were
   * lost. Rejects with `ClosedError` if the client was closed meanwhile. The error of `fn` is then the `cause`. If
   * Redis does not confirm the release, the client's `error` event reports it, because the work is done.
   */
  async using<T>(fn: (lease: L) => Promise<T> | T, options?: LockOptions): Promise<T> {
    const meant = usingOptions(options, this.registry.defaults)
    const askedAt = this.registry.clock.monotonic()
    return this.#use(fn, meant, () => {
      throw this.#timeout(meant.waitMs, this.registry.clock.monotonic() - askedAt)
    })
  }

  /**
   * Like {@link using}, if the lock is available in the given time: without `waitMs` it tries once.
   *
   * @returns the result of `fn`. If {@link tryLock} returns null, `fn` does not run, and the result is `otherwise`, or
   * null
   */
  async tryUsing<T, U = null>(
    fn: (lease: L) => Promise<T> | T,
    options?: TryUsingOptions<U>,
  ): Promise<T | U> {
    return this.#use(fn, tryUsingOptions(options, this.registry.defaults), () =>
      otherwiseOf(options),
    )
  }

  /**
   * Releases the latest acquisition of the frame: of `run`, or of `using` of this lock. Outside any frame it releases
   * the earliest acquisition that this object made there. Each of several locks is released, even when another one
   * fails. Only acquisitions of all of them together count.
   *
   * The object may have a lost acquisition and a held acquisition. If the loss came after the call for the held
   * acquisition began, two tasks use the object. `unlock()` then rejects with the loss and releases nothing. If the
   * loss came earlier, the caller may be either task. `unlock()` then releases the held acquisition and aborts its
   * signal, in case another task relies on it. If nothing is held, `unlock()` rejects with the earliest remembered
   * loss. Each loss is remembered for another `leaseMs`, the last loss for at least an hour.
   *
   * @returns rejects with `NotHeldError` if there is no acquisition, and with `LeaseLostError` if the lease had been
   * lost before. Rejects with `RedisUnavailableError` or `RedisRefusedError` if Redis did not confirm the release. The
   * client then retries in the background, and the lock ends with its lease at the latest. For several locks it rejects
   * with `NotReleasedError`, which contains all failures.
   */
  async unlock(): Promise<void> {
    this.registry.assertOpen(this.name)
    const lease = this.currentOwner.leaseToUndo()
    if (lease === undefined) throw this.notHeld()
    const doubt = this.currentOwner.doubtAbout(lease)
    const released = lease.release()
    if (doubt !== undefined) lease.endedBy(endedByUnlock(doubt))
    let failure: unknown
    try {
      if (await released) return
    } catch (error) {
      failure = error
    }
    throw this.notUnlocked(lease, failure)
  }

  /**
   * @param otherwise called if the lock is not acquired in time; returns the result instead of `fn`
   */
  async #use<T, U>(
    fn: (lease: L) => Promise<T> | T,
    meant: Acquisition,
    otherwise: () => U,
  ): Promise<T | U> {
    assertFunction(fn)
    const carried = this.toCarry()
    const lease = await this.acquireIn(carried, meant)
    if (lease === null) return otherwise()
    return runWhileHeld(lease, carried, () => fn(lease), this.registry.emit)
  }

  /**
   * @returns the lease; rejects with `WaitTimeoutError` if the lock was not acquired
   * @internal
   */
  async orTimeout(acquiring: Promise<L | null>, { waitMs }: Acquisition): Promise<L> {
    const askedAt = this.registry.clock.monotonic()
    const lease = await acquiring
    if (lease === null) throw this.#timeout(waitMs, this.registry.clock.monotonic() - askedAt)
    return lease
  }

  #timeout(waitMs: number, waitedMs: number): Error {
    return lockTimeout(this.name, waitMs, waitedMs, this.toldWhy())
  }

  /**
   * Explains why the last attempt of this object failed, if one did.
   *
   * @internal
   */
  abstract toldWhy(): WhyNotAcquired | undefined

  /**
   * Acquires the lock for the owner of the running code, or for a new owner.
   *
   * @internal
   */
  protected abstract acquireBare(meant: Acquisition): Promise<L | null>

  /**
   * Returns each lock that a frame of `using` carries, and the owner that holds the lock in the
   * frame.
   *
   * @internal
   */
  protected abstract toCarry(): Carried[]

  /** @internal */
  protected abstract acquireIn(carried: readonly Carried[], meant: Acquisition): Promise<L | null>

  /** @internal */
  protected abstract notHeld(): Error

  /**
   * The error with which `unlock()` rejects.
   *
   * @param failure why the release was not confirmed; undefined if the lease had been lost
   * @internal
   */
  protected abstract notUnlocked(lease: K, failure: unknown): unknown
}
