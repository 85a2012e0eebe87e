import type { Public } from '../../kit/public.ts'
import { otherwiseOf } from '../../options/acquisition.ts'
import { assertFunction, assertNoMore } from '../../options/input.ts'
import type { TryUsingOptions } from '../../options/options.ts'
import { MOST_LISTED, type SemaphoreFacts } from '../../servers/facts.ts'
import type { RemoteSemaphore } from '../../servers/semaphore-server.ts'
import { acquiredInTime, startAcquisition } from './permit-acquisition.ts'
import {
  type AcquirePermitsOptions,
  acquireArguments,
  anyPermitsGiven,
  type NewSemaphoreOptions,
  type PermitsWanted,
  permitsGiven,
  type TryAcquirePermitsOptions,
  tryAcquireArguments,
  tryUsingArguments,
  ttlGiven,
  type UsingPermitsOptions,
  usingArguments,
} from './semaphore-options.ts'
import { SemaphoreRequests } from './semaphore-requests.ts'
import type { Semaphores } from './semaphores.ts'
import type { WhyNoPermits } from './why-no-permits.ts'

/**
 * A number of permits that all clients of one Redis share. Redisson has the same semaphore as `RSemaphore`.
 *
 * A permit has no owner: any client may release it. A permit has no lease: if a process crashes, its permits are lost.
 * `close()` releases only the permits of `using`. If permits must not be lost, use `getPermitExpirableSemaphore`. There
 * is no re-entry: each acquisition is separate.
 *
 * A semaphore has no permits until `trySetPermits`, `addPermits` or `release` adds some. Waiters are served in FIFO
 * order across all clients. A caller that wants few permits does not overtake a caller that wants many. Clients of
 * Redisson do not follow this order.
 *
 * If Redis does not answer, the client retries for `outageMs`. A request counts once, even when the client sends it
 * several times. After `outageMs` the call rejects with `RedisUnavailableError`, or with `RedisRefusedError` if Redis
 * refused. Every call rejects with `InvalidArgumentError` for invalid input, and with `ClosedError` after `close()`.
 */
export interface Semaphore extends Public<HoldfastSemaphore> {}

/** The object behind a {@link Semaphore}. */
export class HoldfastSemaphore {
  /** The name that `getSemaphore` received. */
  readonly name: string
  readonly #rawName: string
  readonly #all: Semaphores
  readonly #remote: RemoteSemaphore
  readonly #requests: SemaphoreRequests

  /** @internal */
  constructor(name: string, rawName: string, all: Semaphores) {
    this.name = name
    this.#rawName = rawName
    this.#all = all
    this.#remote = all.server.semaphore(rawName)
    this.#requests = new SemaphoreRequests(name, all.kinds.setBy, all.locks, this.#remote)
  }

  /**
   * Creates the semaphore with this number of permits. If the semaphore exists already, nothing changes.
   *
   * @param permits a whole number from 0
   * @returns true if this call created the semaphore. After a rejection for an outage, the semaphore may exist
   */
  async trySetPermits(permits: number, options?: NewSemaphoreOptions): Promise<boolean> {
    const ttlMs = ttlGiven(options)
    const count = permitsGiven(permits, 'trySetPermits(permits)')
    return (await this.#requests.change('set', count, ttlMs)) === 1
  }

  /**
   * Waits until all requested permits are available, and acquires them. The call waits for at most `waitMs`. Without a
   * `waitMs` of the call or the client, it waits forever.
   *
   * @param options how many permits to acquire (`permits`, 1 by default), and how long to wait
   * @returns resolves when the permits are acquired. Rejects with `signal.reason` when aborted, and with
   * `WaitTimeoutError` at the end of `waitMs`. Rejects with `RedisUnavailableError` or `RedisRefusedError` if Redis was
   * down for `outageMs`, and with `ClosedError` when the client is closed. After a rejection nothing is acquired.
   */
  acquire(options?: UsingPermitsOptions): Promise<void>
  /** @param permits a whole number from 0; 0 does nothing */
  acquire(permits: number, options?: AcquirePermitsOptions): Promise<void>
  async acquire(
    first?: number | UsingPermitsOptions,
    options?: AcquirePermitsOptions,
    ...others: readonly never[]
  ): Promise<void> {
    await this.#takeInTime(acquireArguments(first, options, others, this.#all.locks.defaults))
  }

  /**
   * Acquires permits if they are available within the given time. Without `waitMs`, the call sends one request, and
   * acquires nothing while another caller waits.
   *
   * @returns true if the permits were acquired. Rejects as {@link acquire} does, even for an outage
   */
  async tryAcquire(
    options?: TryAcquirePermitsOptions,
    ...others: readonly never[]
  ): Promise<boolean> {
    assertNoMore(others)
    return this.#tryTake(tryAcquireArguments(options))
  }

  /**
   * Runs the work with permits. Releases the permits when the work has ended, even with an error, or when the client is
   * closed. If Redis does not confirm the release, the client's `error` event reports the failure, and the client
   * retries in the background. If the semaphore no longer exists at that time, the release does not create it again.
   *
   * @returns the result of the work. Rejects with the error of the work, and as {@link acquire} does
   */
  async using<T>(work: () => Promise<T> | T, options?: UsingPermitsOptions): Promise<T> {
    assertFunction(work)
    const wanted = usingArguments(options, this.#all.locks.defaults)
    await this.#takeInTime(wanted)
    return this.#do(work, wanted)
  }

  /**
   * Like {@link using}, but gives up if the permits are not available in time.
   *
   * @returns the result of the work. If the permits were not available, the work does not run, and the result is
   * `otherwise`, or null. Rejects as {@link using} does
   */
  async tryUsing<T, U = null>(
    work: () => Promise<T> | T,
    options?: TryAcquirePermitsOptions & Pick<TryUsingOptions<U>, 'otherwise'>,
  ): Promise<T | U> {
    assertFunction(work)
    const wanted = tryUsingArguments(options)
    return (await this.#tryTake(wanted)) ? this.#do(work, wanted) : otherwiseOf(options)
  }

  /**
   * Releases permits, and wakes waiters. The server does not check who acquired them, so a release can add new permits.
   *
   * Rejects with `RedisUnavailableError` if Redis did not confirm the release. The release may have happened. The
   * client retries in the background for ten minutes, and the release counts once. Do not release these permits again.
   *
   * @param permits a whole number from 0; 0 does nothing
   */
  async release(permits = 1, ...others: readonly never[]): Promise<void> {
    assertNoMore(others)
    const count = permitsGiven(permits, 'release(permits)')
    this.#all.locks.assertOpen(this.name)
    if (count > 0) await this.#all.add(this.#here, count, false)
  }

  /**
   * Releases permits only if the semaphore exists. So the call does not create an expired semaphore again.
   *
   * @returns true if the semaphore exists. Rejects as {@link release} does
   */
  async releaseIfExists(permits = 1, ...others: readonly never[]): Promise<boolean> {
    assertNoMore(others)
    return this.#all.add(this.#here, permitsGiven(permits, 'releaseIfExists(permits)'), true)
  }

  /**
   * Makes more permits available, or fewer with a negative number. The number can fall below zero. Then no caller
   * acquires permits until enough are released.
   *
   * @param permits a whole number, even below 0
   * @returns how many permits are then available. After a rejection for an outage, the number may have changed
   */
  async addPermits(permits: number, ...others: readonly never[]): Promise<number> {
    assertNoMore(others)
    return this.#requests.change('add', anyPermitsGiven(permits, 'addPermits(permits)'))
  }

  /**
   * Acquires all available permits, ahead of all waiters.
   *
   * @returns how many permits were acquired; 0 if no permit is available. Rejects as {@link addPermits} does
   */
  drainPermits(): Promise<number> {
    return this.#requests.change('drain')
  }

  /** Returns how many permits are available; below 0 if more were removed than existed. */
  async availablePermits(): Promise<number> {
    return (await this.#requests.inspect(0)).available
  }

  /** Returns how many permits are available, and the waiting clients. */
  inspect(): Promise<SemaphoreFacts> {
    return this.#requests.inspect(MOST_LISTED)
  }

  /**
   * Explains why permits are not available, as a sentence and as fields: how many are available, and the waiters. The
   * holders of taken permits are unknown. The call asks Redis once.
   */
  why(): Promise<WhyNoPermits> {
    return this.#requests.why()
  }

  /**
   * Deletes the semaphore. Waiting calls wait for new permits. `release()` creates the semaphore again, but the end of
   * `using()` does not. If the semaphore exists again when `using()` ends, the client adds the permits of the work.
   *
   * @returns true if the semaphore existed. If the call rejects for an outage, the semaphore may be deleted
   */
  async delete(): Promise<boolean> {
    return (await this.#requests.change('delete')) === 1
  }

  async #takeInTime(wanted: PermitsWanted): Promise<void> {
    const begun = this.#start(wanted)
    if (begun !== undefined) await acquiredInTime(begun, wanted, this.#all.kinds, this.#all.locks)
  }

  async #tryTake(wanted: PermitsWanted): Promise<boolean> {
    const begun = this.#start(wanted)
    return begun === undefined || (await begun.acquiring) !== null
  }

  /** @returns the acquisition; undefined for 0 permits, which are always available */
  #start({ permits, waitMs, signal }: PermitsWanted) {
    const { locks, kinds } = this.#all
    locks.assertAdmits(this.name)
    signal?.throwIfAborted()
    if (permits === 0) return undefined
    const kind = kinds.of(permits)
    return startAcquisition(locks, this.#here, kind, {
      owner: locks.newOwner(),
      kind,
      leaseMs: Infinity,
      lease: undefined,
      waitMs,
      signal,
    })
  }

  async #do<T>(work: () => Promise<T> | T, { permits }: PermitsWanted): Promise<T> {
    const giveBack = this.#all.startUse(this.#here, permits)
    try {
      return await work()
    } finally {
      await giveBack()
    }
  }

  get #here() {
    return { name: this.name, rawName: this.#rawName, remote: this.#remote }
  }
}
