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

/** What it needs of the locks of its client. */
interface Registry {
  readonly defaults: Defaults
  readonly clock: Clock
  readonly emit: Emit
  assertOpen(lockName: string): void
}

/**
 * What a lock has in common with several locks as one: the forms in which it is acquired and
 * released. Of several, "the lock" here is all of them: they are acquired and held together.
 */
export abstract class BaseLock<L extends object, K extends BaseLease> extends Printed {
  /** The name of the lock, as it was given to `getLock`; of several, their names with ` + ` between them. */
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

  /** As logs and JSON have it. */
  toJSON(): Record<string, unknown> {
    return { name: this.name }
  }

  /**
   * Acquires the lock, and waits for it: for `waitMs` at most, which is one time for all of several, and
   * where neither the call nor the client gives that, without an end. Woken by a message when it is released,
   * by the end of the holder's lease when that one dies.
   *
   * @param options a fixed lease in milliseconds, or options. Without a lease the watchdog renews
   * it until the release.
   * @returns rejects with `signal.reason` when aborted; with `WaitTimeoutError` at the end of `waitMs`, with
   * `InvalidArgumentError` for bad input, `RedisUnavailableError` or `RedisRefusedError` when Redis was out for `outageMs`,
   * `LeaseLostError` when it re-enters a hold that turns out to be lost, `ClosedError` after
   * `close()`. Nothing is held, or left behind, then.
   */
  lock(options?: LockOptions | number): Promise<L>
  lock(options?: LockOptions | number, ...others: never[]): Promise<L> {
    // As `async` does, but without a promise more for each call.
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
   * Acquires the lock if that is possible in the time given, which is one for all of several:
   * `tryLock()` asks once, `tryLock(waitMs)` waits at most so long, `tryLock(waitMs, leaseMs)` takes
   * a fixed lease.
   *
   * @returns the lease; null when somebody else has the lock, or one of several, or when `waitMs` is
   * less than an answer usually takes and was over before it. Never null for an outage: rejects as
   * {@link lock} does, by `waitMs` where that is given, also when Redis is down.
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
   * Runs `fn` while holding the lock, in a frame that carries this lock and no other: whatever runs
   * inside re-enters it, in any form, through any lock object of this client, until `fn` ends. Of
   * several locks it re-enters each by itself as well.
   *
   * @param options as for {@link lock}
   * @returns what `fn` returns. Rejects with what `fn` rejects with; as {@link lock} does when the
   * lock is not acquired; with `LeaseLostError` when the lease was lost before `fn` ended, and
   * with `NotReleasedError` when several were: the error of `fn` is then the `cause`. The same where the
   * client was closed meanwhile, with `ClosedError`. A release that Redis does not
   * confirm is told by the client's `error` event, since the work is done.
   */
  async using<T>(fn: (lease: L) => Promise<T> | T, options?: LockOptions): Promise<T> {
    const meant = usingOptions(options, this.registry.defaults)
    const askedAt = this.registry.clock.monotonic()
    return this.#use(fn, meant, () => {
      throw this.#timeout(meant.waitMs, this.registry.clock.monotonic() - askedAt)
    })
  }

  /**
   * As {@link using}, if the lock is to be had in the time given: without `waitMs` it is tried once.
   *
   * @returns what `fn` returns; null, or `otherwise` where that is given, without running `fn`, when {@link tryLock}
   * gives null
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
   * Undoes the latest acquisition of the frame: of `run`, or of `using` of this lock. Elsewhere, the
   * earliest that this object made there. Of several locks each is released, whatever becomes of the
   * others; only acquisitions of all of them together count.
   *
   * Where one was lost while the call of the one that is held had begun, they are two tasks': then it
   * rejects with that loss, and releases nothing. Where one was lost before, nobody can tell whose call
   * it is: the one that is held is released, and its signal aborts, should another task rely on it.
   * Where nothing is held it rejects with the earliest loss that is remembered: each for as long again
   * as its `leaseMs`, the last one for an hour at least.
   *
   * @returns rejects with `NotHeldError` when there is none, `LeaseLostError` when the lease had
   * been lost before, and `RedisUnavailableError` or `RedisRefusedError` when Redis did not confirm
   * it: it is then tried on in the background, and the lock ends with its lease at the latest. With
   * `NotReleasedError`, which has all that happened, when that became of several locks.
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

  /** @param otherwise what it comes to where the lock is not to be had in time */
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
   * @returns rejects with `WaitTimeoutError` if it was not acquired
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
   * Why the last attempt of this object came to nothing, if one did.
   *
   * @internal
   */
  abstract toldWhy(): WhyNotAcquired | undefined

  /**
   * Acquires it for whom the running code acts, or for an owner of its own.
   *
   * @internal
   */
  protected abstract acquireBare(meant: Acquisition): Promise<L | null>

  /**
   * What a frame of `using` is to carry: each lock, and as whom it is held there.
   *
   * @internal
   */
  protected abstract toCarry(): Carried[]

  /** @internal */
  protected abstract acquireIn(carried: readonly Carried[], meant: Acquisition): Promise<L | null>

  /** @internal */
  protected abstract notHeld(): Error

  /**
   * What `unlock()` rejects with.
   *
   * @param failure why the release was not confirmed; undefined where the lease had been lost
   * @internal
   */
  protected abstract notUnlocked(lease: K, failure: unknown): unknown
}
