import type { Public } from '../../kit/public.ts'
import { workAndRelease } from '../../lease/work-and-release.ts'
import type { LocalLocks } from '../../local/local-locks.ts'
import { otherwiseOf } from '../../options/acquisition.ts'
import { assertFunction } from '../../options/input.ts'
import type { TryUsingOptions } from '../../options/options.ts'
import { MOST_LISTED } from '../../servers/answers.ts'
import type { PermitFacts } from '../../servers/permit-server.ts'
import type { ExpirablePermits } from './expirable-permits.ts'
import type { Permit } from './permit.ts'
import { acquiredInTime, beginAcquisition } from './permit-acquisition.ts'
import { idsGiven } from './permit-id-arguments.ts'
import type { PermitKinds } from './permit-kinds.ts'
import {
  acquireOptions,
  type PermitAcquisition,
  type PermitOptions,
  permitsInAll,
  permitsMore,
  type TryPermitOptions,
  tryAcquireOptions,
  tryUsingPermits,
} from './permit-options.ts'
import { PermitRequests } from './permit-requests.ts'
import type { WhyNoPermits } from './why-no-permits.ts'

/**
 * A semaphore that clients share, like Redisson's `RPermitExpirableSemaphore` of that name. Each acquired permit has a
 * lease: if a process crashes, its permits are available again when their lease ends.
 *
 * Waiters are served in FIFO order across all clients of Holdfast. No caller overtakes, even when it wants fewer
 * permits. Clients of Redisson do not follow this order.
 *
 * There is no re-entry: each acquisition is separate, and no frame carries permits. If code holds permits and requests
 * more, two such callers can wait for each other forever. Request all permits at once instead.
 */
export interface PermitExpirableSemaphore extends Public<HoldfastPermitExpirableSemaphore> {}

/** The {@link PermitExpirableSemaphore} of a client. */
export class HoldfastPermitExpirableSemaphore {
  /** The name of the semaphore, as it was given to `getPermitExpirableSemaphore`. */
  readonly name: string
  readonly #here: { readonly name: string; readonly rawName: string }
  readonly #locks: LocalLocks
  readonly #kinds: PermitKinds
  readonly #requests: PermitRequests
  /** The total number of permits; undefined if the caller did not give it. */
  readonly #limit: number | undefined

  /** @internal */
  constructor(
    name: string,
    rawName: string,
    { locks, server, kinds }: ExpirablePermits,
    limit: number | undefined,
  ) {
    this.name = name
    this.#here = { name, rawName }
    this.#locks = locks
    this.#kinds = kinds
    this.#limit = limit
    this.#requests = new PermitRequests(this.#here, kinds.setBy, locks, server.pool(rawName))
  }

  /**
   * Sets the total number of permits, unless it is set already.
   *
   * @param permits a whole number from 0 to 2,147,483,647
   * @returns true if this call set the number. Rejects with `InvalidArgumentError` for another number, with
   * `RedisUnavailableError` or `RedisRefusedError` if Redis did not confirm the call within `outageMs`, and with
   * `ClosedError` after `close()`
   */
  async trySetPermits(permits: number): Promise<boolean> {
    return (await this.#requests.change('try-set', permitsInAll(permits))) === 1
  }

  /**
   * Sets the total number of permits, available or taken. If more are taken, `availablePermits()` is below 0, and no
   * call acquires any until enough are released. If the number rises, the new permits go to the waiters.
   *
   * @param permits a whole number from 0 to 2,147,483,647
   * @returns rejects as {@link trySetPermits} does
   */
  async setPermits(permits: number): Promise<void> {
    await this.#requests.change('set', permitsInAll(permits))
  }

  /**
   * Raises the total number of permits; a negative number lowers it. It counts once, even when the client has to send
   * the request again.
   *
   * @returns rejects as {@link trySetPermits} does; it may still have changed the number
   */
  async addPermits(permits: number): Promise<void> {
    await this.#requests.change('add', permitsMore(permits))
  }

  /**
   * Removes all available permits permanently: the total number falls by as many. Taken permits can be released as
   * before.
   *
   * @returns how many it removed; 0 if none is available. Rejects as {@link addPermits} does
   */
  drainPermits(): Promise<number> {
    return this.#requests.change('drain', 0)
  }

  /**
   * Returns how many permits are available; below 0 if fewer are set than are taken. If no client has set the number,
   * the result is the `permits` option of this semaphore less the taken permits; 0 without that option. Rejects as
   * {@link trySetPermits} does.
   */
  async availablePermits(): Promise<number> {
    const { permits, available, taken } = await this.#requests.look(0)
    return permits === null && this.#limit !== undefined ? this.#limit - taken : available
  }

  /**
   * Returns the number of permits, their holders, the remaining leases, and the clients that wait. Rejects as {@link
   * trySetPermits} does.
   */
  inspect(): Promise<PermitFacts> {
    return this.#requests.look(MOST_LISTED)
  }

  /**
   * Explains why permits are not available, in a sentence and in fields: the holders, since when, and the waiters.
   * Each holder has its label, host and process id. It asks Redis once, and once more for clients that it does not
   * know.
   */
  why(): Promise<WhyNoPermits> {
    return this.#requests.why()
  }

  /**
   * Releases permits by their ids, for any holder: another process, or Redisson. The work of the holder continues. A
   * holder in this client learns of it at once: its `signal` aborts, with the reason `forced`. A holder in another
   * client learns of it at its next renewal. With a fixed lease, it learns of it at its next check, at the latest when
   * the lease ends.
   *
   * @param idOrIds from `permit.ids` or `inspect()`: 32 hex digits each, at most 5,000
   * @returns true if all of them were still taken. Rejects as {@link trySetPermits} does
   */
  async release(
    idOrIds: string | readonly string[],
    ...others: readonly never[]
  ): Promise<boolean> {
    return this.#requests.releaseIds(idsGiven(idOrIds, others))
  }

  /**
   * Deletes the semaphore: the number of permits and the holders. Holders learn of it as with {@link release}. Waiting
   * calls wait for new permits. If the semaphore was created with `permits`, the next acquisition sets the number
   * again.
   *
   * @returns true if there was such a semaphore. Rejects as {@link trySetPermits} does
   */
  delete(): Promise<boolean> {
    return this.#requests.delete()
  }

  /**
   * Acquires all requested permits or none. It waits in FIFO order, for at most `waitMs`. If
   * neither the call nor the client sets `waitMs`, it waits forever. A message wakes the waiter. If
   * a holder crashes, the end of its lease wakes the waiter.
   *
   * Without `leaseMs` the watchdog renews their lease until the release.
   *
   * @returns the permits. Rejects with `signal.reason` when aborted, and with `WaitTimeoutError` at the end of
   * `waitMs`. Rejects with `InvalidArgumentError` for invalid input, and if it requests more permits than there are in
   * total, even when the total falls during the wait. Rejects with `RedisUnavailableError` or `RedisRefusedError` if
   * Redis was down for `outageMs`, and with `ClosedError` after `close()`. After a rejection nothing is taken or left
   * behind.
   */
  acquire(options?: PermitOptions): Promise<Permit>
  async acquire(options?: PermitOptions, ...others: never[]): Promise<Permit> {
    return this.#acquireInTime(acquireOptions(options, others, this.#locks.defaults))
  }

  /**
   * Acquires permits if that is possible in the given time. Without `waitMs` it asks once, and acquires none while
   * another caller waits.
   *
   * @returns the permits; null if they were not available. Never null for an outage: rejects as {@link acquire} does
   */
  tryAcquire(options?: TryPermitOptions): Promise<Permit | null>
  async tryAcquire(options?: TryPermitOptions, ...others: never[]): Promise<Permit | null> {
    return this.#acquire(tryAcquireOptions(options, others, this.#locks.defaults))
  }

  /**
   * Runs `fn` while it holds permits, and releases them when `fn` has ended, even with an error.
   *
   * @param options as for {@link acquire}
   * @returns the result of `fn`. Rejects with the error of `fn`, and as {@link acquire} does if the permits are not
   * acquired. Rejects with `LeaseLostError` if their lease was lost before `fn` ended; the error of `fn` is then the
   * `cause`. If Redis does not confirm the release, the client's `error` event reports it, because the work is done.
   */
  async using<T>(fn: (permit: Permit) => Promise<T> | T, options?: PermitOptions): Promise<T> {
    assertFunction(fn)
    return this.#do(fn, await this.acquire(options))
  }

  /**
   * Like {@link using}, if the permits are available in the given time.
   *
   * @param options as for {@link tryAcquire}
   * @returns the result of `fn`. If the permits are not available, `fn` does not run, and the result is `otherwise`,
   * or null. Rejects as {@link using} does
   */
  async tryUsing<T, U = null>(
    fn: (permit: Permit) => Promise<T> | T,
    options?: TryPermitOptions & Pick<TryUsingOptions<U>, 'otherwise'>,
  ): Promise<T | U> {
    assertFunction(fn)
    const permit = await this.#acquire(tryUsingPermits(options, this.#locks.defaults))
    return permit === null ? otherwiseOf(options) : this.#do(fn, permit)
  }

  #do<T>(fn: (permit: Permit) => Promise<T> | T, permit: Permit): Promise<T> {
    return workAndRelease(permit, () => fn(permit), this.#locks.emit)
  }

  async #acquireInTime(wanted: PermitAcquisition): Promise<Permit> {
    const asked = { permits: wanted.permits, waitMs: wanted.meant.waitMs }
    const lease = acquiredInTime(this.#begin(wanted), asked, this.#kinds, this.#locks)
    return lease as Promise<Permit>
  }

  async #acquire(wanted: PermitAcquisition) {
    return this.#begin(wanted).acquiring as Promise<Permit | null>
  }

  #begin({ permits, meant }: PermitAcquisition) {
    const { leaseMs, renew, maxHoldMs, waitMs, signal } = meant
    const locks = this.#locks
    locks.assertAdmits(this.name)
    locks.assertNotLonger(this.name, leaseMs)
    signal?.throwIfAborted()
    const kind = this.#kinds.of(permits, this.#limit)
    return beginAcquisition(locks, this.#here, kind, {
      leaseMs: Math.min(leaseMs ?? locks.leaseMs, maxHoldMs),
      watched: renew,
      maxHoldMs,
      waitMs,
      signal,
      scoped: false,
    })
  }
}
