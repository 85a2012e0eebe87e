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
import type { WhyNotAcquired } from '../../why-not-acquired.ts'
import { runWhileHeld } from './run-while-held.ts'
import { endedByUnlock } from './unlock-errors.ts'

/** The members of a client that a lock object needs. */
interface Registry {
  readonly defaults: Defaults
  readonly clock: Clock
  readonly emit: Emit
  assertOpen(lockName: string): void
}

/**
 * The methods that acquire and release, for one lock and for a multi-lock. In a multi-lock, "the lock" means all of its
 * locks, because they are acquired and released together.
 */
export abstract class BaseLock<L extends object, K extends BaseLease> extends Printed {
  /**
   * The name that `getLock` or a similar method received. For a multi-lock, the names of its locks with ` + ` between
   * them.
   */
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

  /** Returns what logs and JSON show of the lock. */
  toJSON(): Record<string, unknown> {
    return { name: this.name }
  }

  /**
   * Acquires the lock. The call waits at most `waitMs`; a multi-lock waits at most `waitMs` for all its locks together.
   * Without a `waitMs` of the call or the client, the call waits forever.
   *
   * The message of a release wakes the waiter. If the holder crashes, the end of its lease wakes the waiter.
   *
   * @param options a number of milliseconds for a fixed lease, or an object of options. Without `leaseMs`, the watchdog
   * renews the lease until the release
   * @returns the lease. Rejects with `signal.reason` when aborted, with `WaitTimeoutError` at the end of `waitMs`, and
   * with `InvalidArgumentError` for invalid input. Rejects with `RedisUnavailableError` or `RedisRefusedError` if Redis
   * was down for `outageMs`. Rejects with `LeaseLostError` if the call re-enters a hold and finds that the hold is
   * lost, and with `ClosedError` after `close()`. After a rejection, the call has acquired nothing.
   */
  lock(options?: LockOptions | number): Promise<L>
  lock(options?: LockOptions | number, ...others: never[]): Promise<L> {
    // This method is not `async`, because an `async` function creates one more promise for each
    // call.
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
   * Acquires the lock if it is free within the given time. A multi-lock has this time for all its locks together.
   * `tryLock()` sends one request, `tryLock(waitMs)` waits at most `waitMs`, and `tryLock(waitMs, leaseMs)` also sets a
   * fixed lease.
   *
   * @returns the lease; null if another owner holds the lock, or one lock of a multi-lock. Also null if `waitMs` is
   * shorter than the usual response time and ended before the answer. During an outage the call does not return null:
   * it rejects as {@link lock} does, at the latest at the end of `waitMs`.
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
   * Runs `fn` while the caller holds the lock, in a frame that carries this lock only. All code inside `fn` re-enters
   * the lock, with any method and through any lock object of this client without its own `owner`, until `fn` ends. For
   * a multi-lock, code inside `fn` also re-enters each of its locks alone.
   *
   * @param options as for {@link lock}
   * @returns the result of `fn`. Rejects with the error of `fn`, and as {@link lock} does if the lock is not acquired.
   * Rejects with `LeaseLostError` if the lease was lost before `fn` ended, and with `NotReleasedError` if several
   * leases were lost. Rejects with `ClosedError` if the client was closed before `fn` ended. If `fn` also failed, these
   * three errors have the error of `fn` as `cause`. If Redis does not confirm the release, only the client's `error`
   * event reports the failure, because the work is done.
   */
  async using<T>(fn: (lease: L) => Promise<T> | T, options?: LockOptions): Promise<T> {
    const meant = usingOptions(options, this.registry.defaults)
    const calledAt = this.registry.clock.monotonic()
    return this.#use(fn, meant, () => {
      throw this.#timeout(meant.waitMs, this.registry.clock.monotonic() - calledAt)
    })
  }

  /**
   * Like {@link using}, but gives up if the lock is not free in time. Without `waitMs` it sends one request.
   *
   * @returns the result of `fn`. If {@link tryLock} would return null, `fn` does not run, and the result is
   * `otherwise`, or null without `otherwise`
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
   * In a frame of `run`, or of `using` of this lock, releases the latest acquisition of the frame. Outside such frames,
   * releases the earliest acquisition that this object made outside such frames. With an `owner`, releases the latest
   * acquisition of the owner. A multi-lock releases each of its locks, even when the release of another lock fails. The
   * `unlock()` of a multi-lock releases only acquisitions of the whole multi-lock.
   *
   * The object may have a lost acquisition and a held acquisition. If the call for the held acquisition came before the
   * loss, two tasks use the object. Then `unlock()` rejects with the loss and releases nothing. If the loss came first,
   * `unlock()` releases the held acquisition. If this release ends the hold, the signal of the lease aborts, because
   * another task may rely on the hold. If nothing is held, `unlock()` rejects with the earliest remembered loss. The
   * object remembers a loss for another `leaseMs`, and the last loss for at least an hour.
   *
   * @returns resolves when Redis has confirmed the release. Rejects with `NotHeldError` if there is no acquisition, and
   * with `LeaseLostError` if the lease was lost before the call. Rejects with `RedisUnavailableError` or
   * `RedisRefusedError` if Redis did not confirm the release. The client then retries in the background, and the lock
   * becomes free at the end of its lease at the latest. A multi-lock rejects with `NotReleasedError`, which contains
   * all failures.
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

  /** @param otherwise called instead of `fn` if the lock is not acquired in time */
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
   * Returns the lease that `acquiring` resolves with. Rejects with `WaitTimeoutError` if
   * `acquiring` resolves with null.
   *
   * @internal
   */
  async orTimeout(acquiring: Promise<L | null>, { waitMs }: Acquisition): Promise<L> {
    const calledAt = this.registry.clock.monotonic()
    const lease = await acquiring
    if (lease === null) throw this.#timeout(waitMs, this.registry.clock.monotonic() - calledAt)
    return lease
  }

  #timeout(waitMs: number, waitedMs: number): Error {
    return lockTimeout(this.name, waitMs, waitedMs, this.withReason())
  }

  /**
   * Explains why the last failed attempt of this object did not acquire the lock; undefined if no
   * attempt has failed.
   *
   * @internal
   */
  abstract withReason(): WhyNotAcquired | undefined

  /**
   * Acquires the lock for the owner of the running code, or for a new owner. Resolves with null if the lock was not
   * free in time.
   *
   * @internal
   */
  protected abstract acquireBare(meant: Acquisition): Promise<L | null>

  /**
   * Returns the locks that a frame of `using` carries. Each lock comes with its owner in the frame.
   *
   * @internal
   */
  protected abstract toCarry(): Carried[]

  /** @internal */
  protected abstract acquireIn(carried: readonly Carried[], meant: Acquisition): Promise<L | null>

  /** @internal */
  protected abstract notHeld(): Error

  /**
   * Returns the error with which `unlock()` rejects.
   *
   * @param failure why the server did not confirm the release; undefined if the lease was lost before the release
   * @internal
   */
  protected abstract notUnlocked(lease: K, failure: unknown): unknown
}
