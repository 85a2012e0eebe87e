import type { Public } from '../../kit/public.ts'
import { workAndRelease } from '../../lease/work-and-release.ts'
import type { LocalLocks } from '../../local/local-locks.ts'
import { otherwiseOf } from '../../options/acquisition.ts'
import { assertFunction } from '../../options/input.ts'
import type { TryUsingOptions } from '../../options/options.ts'
import { MOST_LISTED } from '../../servers/facts.ts'
import type { PermitFacts } from '../../servers/permit-server.ts'
import type { ExpirablePermits } from './expirable-permits.ts'
import type { Permit } from './permit.ts'
import { acquiredInTime, startAcquisition } from './permit-acquisition.ts'
import { idsGiven } from './permit-id-arguments.ts'
import {
  acquireOptions,
  type PermitAcquisition,
  type PermitOptions,
  permitsInAll,
  permitsMore,
  type TryPermitOptions,
  tryAcquireOptions,
  tryUsingOptions,
} from './permit-options.ts'
import { PermitRequests } from './permit-requests.ts'
import type { WhyNoPermits } from './why-no-permits.ts'

/** A permit is never kept after its release, and each acquisition has its own owner. */
const OF_PERMITS = { keepMs: 0, scoped: false, calledAt: Infinity } as const

/**
 * A semaphore that clients share. Redisson has the same semaphore as `RPermitExpirableSemaphore`. Each acquired permit
 * has a lease: if a process crashes, its permits are available again when their lease ends.
 *
 * Waiters are served in FIFO order across all clients of Holdfast. No caller overtakes, even when it wants fewer
 * permits. Clients of Redisson do not follow this order.
 *
 * There is no re-entry: each acquisition is separate, and no frame carries permits. If code holds permits and requests
 * more permits, two such callers can wait for each other forever. Request all permits at once instead.
 */
export interface PermitExpirableSemaphore extends Public<HoldfastPermitExpirableSemaphore> {}

/** The object behind a {@link PermitExpirableSemaphore}. */
export class HoldfastPermitExpirableSemaphore {
  /** The name that `getPermitExpirableSemaphore` received. */
  readonly name: string
  readonly #here: { readonly name: string; readonly rawName: string }
  readonly #locks: LocalLocks
  readonly #kinds: ExpirablePermits['kinds']
  readonly #requests: PermitRequests
  /** The `permits` option: the total number of permits. Undefined without the option. */
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
   * Sets the total number of permits, unless a client has already set it.
   *
   * @param permits a whole number from 0 to 2,147,483,647
   * @returns true if this call set the number. Rejects with `InvalidArgumentError` for an invalid number, with
   * `RedisUnavailableError` or `RedisRefusedError` if Redis did not confirm the call within `outageMs`, and with
   * `ClosedError` after `close()`
   */
  async trySetPermits(permits: number): Promise<boolean> {
    return (await this.#requests.change('try-set', permitsInAll(permits))) === 1
  }

  /**
   * Sets the total number of permits: the available and the taken permits together. If more permits are taken,
   * `availablePermits()` is below 0, and no call acquires permits until enough are released. If the number rises, the
   * new permits go to the waiters.
   *
   * @param permits a whole number from 0 to 2,147,483,647
   * @returns rejects as {@link trySetPermits} does
   */
  async setPermits(permits: number): Promise<void> {
    await this.#requests.change('set', permitsInAll(permits))
  }

  /**
   * Raises the total number of permits; a negative number lowers it. The change counts once, even when the client has
   * to send the request again.
   *
   * @returns rejects as {@link trySetPermits} does. After a rejection, the number may have changed
   */
  async addPermits(permits: number): Promise<void> {
    await this.#requests.change('add', permitsMore(permits))
  }

  /**
   * Removes all available permits permanently, so that the total number falls. Taken permits stay taken, and can be
   * released as before.
   *
   * @returns how many permits the call removed; 0 if none is available. Rejects as {@link addPermits} does
   */
  drainPermits(): Promise<number> {
    return this.#requests.change('drain', 0)
  }

  /**
   * Returns how many permits are available; below 0 if more permits are taken than exist. If no client has set the
   * total number, the result is the `permits` option of this semaphore minus the taken permits; 0 without this option.
   * Rejects as {@link trySetPermits} does.
   */
  async availablePermits(): Promise<number> {
    const { permits, available, taken } = await this.#requests.inspect(0)
    return permits === null && this.#limit !== undefined ? this.#limit - taken : available
  }

  /**
   * Returns the number of permits, their holders, the remaining leases, and the waiting clients. Rejects as
   * {@link trySetPermits} does.
   */
  inspect(): Promise<PermitFacts> {
    return this.#requests.inspect(MOST_LISTED)
  }

  /**
   * Explains why permits are not available, as a sentence and as fields: the holders, the age of their holds, and the
   * waiters. Each known holder has its label, host and process id. The call asks Redis once, and once more for each
   * unknown client, at most 20.
   */
  why(): Promise<WhyNoPermits> {
    return this.#requests.why()
  }

  /**
   * Releases permits by their ids, even if another process or Redisson holds them. The work of the holder continues. A
   * holder in this client is notified at once: its `signal` aborts, with the reason `forced`. A holder in another
   * client notices the release at its next renewal. With a fixed lease, the holder notices the release at its next
   * check, or when the lease ends.
   *
   * @param idOrIds from `permit.ids` or `inspect()`: 32 hex digits each, at most 5,000
   * @returns true if all these permits were still taken. Rejects as {@link trySetPermits} does
   */
  async release(
    idOrIds: string | readonly string[],
    ...others: readonly never[]
  ): Promise<boolean> {
    return this.#requests.releaseIds(idsGiven(idOrIds, others))
  }

  /**
   * Deletes the semaphore: the number of permits and the holders. Holders notice the deletion as they notice {@link
   * release}. Waiting calls wait for new permits. If this object has a `permits` option, its next acquisition sets the
   * number again.
   *
   * @returns true if the semaphore existed. Rejects as {@link trySetPermits} does
   */
  delete(): Promise<boolean> {
    return this.#requests.delete()
  }

  /**
   * Acquires all requested permits or none, in FIFO order. The call waits for at most `waitMs`. Without a `waitMs` of
   * the call or the client, it waits forever. A message wakes the waiter. If a holder crashes, the end of its lease
   * wakes the waiter.
   *
   * Without `leaseMs`, the watchdog renews the lease of the permits until the release.
   *
   * @returns the permits. Rejects with `signal.reason` when aborted, and with `WaitTimeoutError` at the end of
   * `waitMs`. Rejects with `InvalidArgumentError` for invalid input, and if the call requests more permits than exist,
   * even when the total falls during the wait. If the total is 0 or not set, the call waits. Rejects with
   * `RedisUnavailableError` or `RedisRefusedError` if Redis was down for `outageMs`, and with `ClosedError` after
   * `close()`. After a rejection, the call has acquired nothing.
   */
  acquire(options?: PermitOptions): Promise<Permit>
  async acquire(options?: PermitOptions, ...others: never[]): Promise<Permit> {
    const wanted = acquireOptions(options, others, this.#locks.defaults)
    return acquiredInTime(this.#start(wanted), wanted, this.#kinds, this.#locks)
  }

  /**
   * Acquires permits if they are available within the given time. Without `waitMs`, the call sends one request, and
   * acquires nothing while another caller waits.
   *
   * @returns the permits; null if they were not available. During an outage it rejects as {@link acquire} does
   */
  tryAcquire(options?: TryPermitOptions): Promise<Permit | null>
  async tryAcquire(options?: TryPermitOptions, ...others: never[]): Promise<Permit | null> {
    return this.#start(tryAcquireOptions(options, others, this.#locks.defaults)).acquiring
  }

  /**
   * Runs `fn` while the caller holds permits, and releases the permits when `fn` has ended, even with an error.
   *
   * @param options as for {@link acquire}
   * @returns the result of `fn`. Rejects with the error of `fn`, and as {@link acquire} does if the permits are not
   * acquired. Rejects with `LeaseLostError` if the lease was lost before `fn` ended; the error of `fn` is then the
   * `cause`. If Redis does not confirm the release, only the client's `error` event reports the failure, because the
   * work is done.
   */
  async using<T>(fn: (permit: Permit) => Promise<T> | T, options?: PermitOptions): Promise<T> {
    assertFunction(fn)
    return this.#do(fn, await this.acquire(options))
  }

  /**
   * Like {@link using}, but gives up if the permits are not available in time.
   *
   * @param options as for {@link tryAcquire}
   * @returns the result of `fn`. If the permits are not available, `fn` does not run, and the result is `otherwise`, or
   * null without `otherwise`. Rejects as {@link using} does
   */
  async tryUsing<T, U = null>(
    fn: (permit: Permit) => Promise<T> | T,
    options?: TryPermitOptions & Pick<TryUsingOptions<U>, 'otherwise'>,
  ): Promise<T | U> {
    assertFunction(fn)
    const permit = await this.#start(tryUsingOptions(options, [], this.#locks.defaults)).acquiring
    return permit === null ? otherwiseOf(options) : this.#do(fn, permit)
  }

  #do<T>(fn: (permit: Permit) => Promise<T> | T, permit: Permit): Promise<T> {
    return workAndRelease(permit, () => fn(permit), this.#locks.emit)
  }

  #start({ permits, leaseMs, renew, maxHoldMs, waitMs, signal }: PermitAcquisition) {
    const locks = this.#locks
    locks.assertAdmits(this.name)
    locks.assertNotLonger(this.name, leaseMs)
    signal?.throwIfAborted()
    const kind = this.#kinds.of(permits, this.#limit)
    const owner = locks.newOwner()
    return startAcquisition(locks, this.#here, kind, {
      owner,
      kind,
      leaseMs: Math.min(leaseMs ?? locks.leaseMs, maxHoldMs),
      lease: { ...OF_PERMITS, watched: renew, maxHoldMs, leaseHolder: owner },
      waitMs,
      signal,
    })
  }
}
