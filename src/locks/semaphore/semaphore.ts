import type { Public } from '../../kit/public.ts'
import { NO_LEASE_MS } from '../../lease/validity.ts'
import { otherwiseOf } from '../../options/acquisition.ts'
import { assertFunction, assertNoMore } from '../../options/input.ts'
import type { TryUsingOptions } from '../../options/options.ts'
import { MOST_LISTED, type SemaphoreFacts } from '../../servers/answers.ts'
import type { RemoteSemaphore } from '../../servers/semaphore-server.ts'
import { acquiredInTime, beginAcquisition } from './permit-acquisition.ts'
import {
  type AcquirePermitsOptions,
  acquireArguments,
  anyPermitsGiven,
  type NewSemaphoreOptions,
  type PermitsWanted,
  permitsGiven,
  type TryAcquirePermitsOptions,
  tryArguments,
  ttlGiven,
  type UsingPermitsOptions,
  usingArguments,
} from './semaphore-options.ts'
import { SemaphoreRequests } from './semaphore-requests.ts'
import type { Semaphores } from './semaphores.ts'
import type { WhyNoPermits } from './why-no-permits.ts'

/**
 * A number of permits that all clients of one Redis share, as Redisson's `RSemaphore` of that name.
 *
 * A permit is nobody's: whoever takes one may give it back, and so may anybody else. It has no lease, so that the
 * permits of a process that crashed are lost, and `close()` gives none back; use
 * `getPermitExpirableSemaphore` where that may not be. There is no re-entry: each acquisition is for itself.
 *
 * A semaphore has no permits until it is given some, by `trySetPermits`, `addPermits` or `release`. Those who wait
 * are served in the order in which they came, across all clients; who wants many is not overtaken by who wants few.
 * Clients of Redisson know nothing of that order.
 *
 * Where Redis does not answer, requests are sent again for as long as `outageMs` says. Each counts once, however
 * often it was sent. Then the call rejects with `RedisUnavailableError`, or `RedisRefusedError` where Redis refused
 * it. Every call rejects with `InvalidArgumentError` for bad input, and with `ClosedError` after `close()`.
 */
export interface Semaphore extends Public<HoldfastSemaphore> {}

/** The {@link Semaphore} of a client. */
export class HoldfastSemaphore {
  /** The name of the semaphore, as it was given to `getSemaphore`. */
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
   * Gives a new semaphore that many permits. Where there is one already nothing is changed.
   *
   * @param permits a whole number from 0 up
   * @returns whether it is new. Where it rejects for an outage it may be, and have these permits
   */
  async trySetPermits(permits: number, options?: NewSemaphoreOptions): Promise<boolean> {
    const ttlMs = ttlGiven(options)
    const count = permitsGiven(permits, 'trySetPermits(permits)')
    return (await this.#requests.change('set', count, ttlMs)) === 1
  }

  /**
   * Waits until the permits are available and takes them all. It waits for `waitMs` at most. If neither the call nor
   * the client sets `waitMs`, it waits forever.
   *
   * @param options how many permits to take (`permits`, 1 by default), and how long to wait
   * @returns when they are taken. Rejects with `signal.reason` when aborted, with `WaitTimeoutError` at the end of
   * `waitMs`, with `RedisUnavailableError` or `RedisRefusedError` when Redis was out for `outageMs`, and with
   * `ClosedError` when the client is closed; nothing is taken then
   */
  acquire(options?: UsingPermitsOptions): Promise<void>
  /** @param permits a whole number from 0 up; 0 does nothing */
  acquire(permits: number, options?: AcquirePermitsOptions): Promise<void>
  async acquire(
    first?: number | UsingPermitsOptions,
    options?: AcquirePermitsOptions,
    ...others: readonly never[]
  ): Promise<void> {
    await this.#takeInTime(acquireArguments(first, options, others, this.#all.locks.defaults))
  }

  /**
   * Takes permits if they are available, or become so in the time that is given. Who does not wait is refused
   * while anybody does.
   *
   * @returns whether they were taken. Rejects as {@link acquire} does: an outage is not `false`
   */
  async tryAcquire(
    options?: TryAcquirePermitsOptions,
    ...others: readonly never[]
  ): Promise<boolean> {
    assertNoMore(others)
    return this.#take(tryArguments('tryAcquire(options)', options))
  }

  /**
   * Does the work with permits, and gives them back when it has ended, whatever comes of it, or when the client is
   * closed. Where Redis does not confirm that, the client's event `error` tells; it is tried on in the background.
   * A semaphore that is gone by then, as one that had an expiry, is not made again.
   *
   * @returns what the work returns. Rejects with what the work rejects with, and as {@link acquire} does
   */
  async using<T>(work: () => Promise<T> | T, options?: UsingPermitsOptions): Promise<T> {
    assertFunction(work)
    const wanted = usingArguments(options, this.#all.locks.defaults)
    await this.#takeInTime(wanted)
    return this.#do(work, wanted)
  }

  /**
   * The same where the permits are available, or become so in the time that is given.
   *
   * @returns what the work returns; or `otherwise`, null unless given, when they were not to be had. Rejects as
   * {@link using} does
   */
  async tryUsing<T, U = null>(
    work: () => Promise<T> | T,
    options?: TryAcquirePermitsOptions & Pick<TryUsingOptions<U>, 'otherwise'>,
  ): Promise<T | U> {
    assertFunction(work)
    const wanted = tryArguments('tryUsing(fn, options)', options, ['otherwise'])
    return (await this.#take(wanted)) ? this.#do(work, wanted) : otherwiseOf(options)
  }

  /**
   * Gives back permits, whoever has taken them, or adds new ones: nobody keeps count. Those who wait are told.
   *
   * Rejects with `RedisUnavailableError` when Redis did not confirm that: it may have counted them or not. It is
   * tried on in the background for ten minutes, where they count once; do not release them again.
   *
   * @param permits a whole number from 0 up; 0 does nothing
   */
  async release(permits = 1, ...others: readonly never[]): Promise<void> {
    assertNoMore(others)
    const count = permitsGiven(permits, 'release(permits)')
    this.#all.locks.assertOpen(this.name)
    if (count > 0) await this.#all.add(this.#here, count, false)
  }

  /**
   * Gives back permits where there is such a semaphore: one that had an expiry is not made again.
   *
   * @returns whether there is. Rejects as {@link release} does
   */
  async releaseIfExists(permits = 1, ...others: readonly never[]): Promise<boolean> {
    assertNoMore(others)
    return this.#all.add(this.#here, permitsGiven(permits, 'releaseIfExists(permits)'), true)
  }

  /**
   * Makes more permits available, or fewer: also fewer than none, so that nobody takes any until enough have come
   * back.
   *
   * @param permits a whole number, also below 0
   * @returns how many are available then. Where it rejects for an outage it may have been done
   */
  async addPermits(permits: number, ...others: readonly never[]): Promise<number> {
    assertNoMore(others)
    return this.#requests.change('add', anyPermitsGiven(permits, 'addPermits(permits)'))
  }

  /**
   * Takes all permits that are available, before all who wait.
   *
   * @returns how many that were; 0 where fewer than none are. Rejects as {@link addPermits} does
   */
  drainPermits(): Promise<number> {
    return this.#requests.change('drain')
  }

  /** How many permits are available; below 0 where more were taken away than there were. */
  async availablePermits(): Promise<number> {
    return (await this.#requests.look(0)).available
  }

  /** How many permits are available, and which clients have somebody who waits. */
  inspect(): Promise<SemaphoreFacts> {
    return this.#requests.look(MOST_LISTED)
  }

  /**
   * Why permits are not to be had, in a sentence and in fields: how many are available, and who waits. Nobody can know
   * who has the others. It asks Redis once.
   */
  why(): Promise<WhyNoPermits> {
    return this.#requests.why()
  }

  /**
   * Deletes the semaphore. Calls that wait go on waiting for new permits. `using()` gives no permits back to a
   * semaphore that is gone, but `release()` makes it anew. To new permits that are set before its work ends it adds its own.
   *
   * @returns true if there was such a semaphore. If it rejects for an outage, the semaphore may be deleted
   */
  async delete(): Promise<boolean> {
    return (await this.#requests.change('delete')) === 1
  }

  async #takeInTime(wanted: PermitsWanted): Promise<void> {
    const { kinds, locks } = this.#all
    const begun = this.#begin(wanted)
    if (begun !== undefined) await acquiredInTime(begun, wanted, kinds, locks)
  }

  async #take(wanted: PermitsWanted): Promise<boolean> {
    const begun = this.#begin(wanted)
    return begun === undefined || (await begun.acquiring) !== null
  }

  /** @returns undefined for no permits, which are always there */
  #begin({ permits, waitMs, signal }: PermitsWanted) {
    const { locks, kinds } = this.#all
    locks.assertAdmits(this.name)
    signal?.throwIfAborted()
    if (permits === 0) return undefined
    const kind = kinds.of(permits)
    return beginAcquisition(locks, { name: this.name, rawName: this.#rawName }, kind, {
      leaseMs: NO_LEASE_MS,
      watched: false,
      maxHoldMs: Infinity,
      waitMs,
      signal,
      scoped: true,
    })
  }

  async #do<T>(work: () => Promise<T> | T, { permits }: PermitsWanted): Promise<T> {
    const giveBack = this.#all.inUse(this.#here, permits)
    try {
      return await work()
    } finally {
      await giveBack()
    }
  }

  get #here() {
    return { name: this.name, remote: this.#remote }
  }
}
