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
 * A number of permits that clients share, as Redisson's `RPermitExpirableSemaphore` of that name: each that is
 * taken has a lease, so that those of a process that crashed are available again when it ends.
 *
 * Whoever waits is served by how long it has waited, across all clients of Holdfast: nobody overtakes, also not
 * who wants fewer permits. Clients of Redisson know nothing of that order.
 *
 * Each acquisition is for itself: nothing re-enters, and no frame carries permits. Code that holds some and asks
 * for more waits for others to give back theirs, who may wait for it: better ask for all of them at once.
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
  /** How many permits there are to be in all; undefined if the caller did not say. */
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
   * Sets how many permits there are in all, unless somebody has.
   *
   * @param permits a whole number from 0 to 2,147,483,647
   * @returns whether this call has set it. Rejects with `InvalidArgumentError` for another number, with
   * `RedisUnavailableError` or `RedisRefusedError` when Redis did not confirm it within `outageMs`, and with
   * `ClosedError` after `close()`
   */
  async trySetPermits(permits: number): Promise<boolean> {
    return (await this.#requests.change('try-set', permitsInAll(permits))) === 1
  }

  /**
   * Sets how many permits there are in all, available or taken. Where more are taken, `availablePermits()` is
   * below 0 until enough are given back, and nobody gets any before; where there are more than before, as many
   * of those who wait get theirs as there are permits for.
   *
   * @param permits a whole number from 0 to 2,147,483,647
   * @returns rejects as {@link trySetPermits} does
   */
  async setPermits(permits: number): Promise<void> {
    await this.#requests.change('set', permitsInAll(permits))
  }

  /**
   * Raises how many permits there are in all; a number below 0 lowers it. However often the request has to be
   * sent it counts once.
   *
   * @returns rejects as {@link trySetPermits} does; then it may have been done
   */
  async addPermits(permits: number): Promise<void> {
    await this.#requests.change('add', permitsMore(permits))
  }

  /**
   * Takes away all permits that are available, for good: there are so many fewer in all. Those that are taken
   * can be given back as before.
   *
   * @returns how many it has taken away; 0 where none is available. Rejects as {@link addPermits} does
   */
  drainPermits(): Promise<number> {
    return this.#requests.change('drain', 0)
  }

  /**
   * How many permits are to be had; below 0 where fewer were set than are taken. If nobody has set any, it is the
   * number that this semaphore was made with, less those that are taken; 0 without such a number. Rejects as
   * {@link trySetPermits} does.
   */
  async availablePermits(): Promise<number> {
    const { permits, available, taken } = await this.#requests.look(0)
    return permits === null && this.#limit !== undefined ? this.#limit - taken : available
  }

  /**
   * How many permits there are, who has them until when, and which clients have somebody who waits. Rejects as
   * {@link trySetPermits} does.
   */
  inspect(): Promise<PermitFacts> {
    return this.#requests.look(MOST_LISTED)
  }

  /**
   * Tells why permits are not to be had, in a sentence and in fields: who has them, for how long, and who waits. Each
   * holder has its label, host and process id. It asks Redis once, and once more for clients that it does not know.
   */
  why(): Promise<WhyNoPermits> {
    return this.#requests.why()
  }

  /**
   * Releases permits by their ids, whoever has them: another process, or Java. The work of the holder goes on. A holder
   * in this client hears of it at once: its `signal` aborts, with the reason `forced`. A holder in another client hears
   * of it at its next renewal; with a fixed lease it does not.
   *
   * @param idOrIds of `permit.ids` or `inspect()`: 32 hex digits each, and 5,000 at most
   * @returns true if all of them were taken until now. Rejects as {@link trySetPermits} does
   */
  async release(
    idOrIds: string | readonly string[],
    ...others: readonly never[]
  ): Promise<boolean> {
    return this.#requests.releaseIds(idsGiven(idOrIds, others))
  }

  /**
   * Deletes the semaphore: how many permits there are, and who has them. Holders hear of it as with {@link release}.
   * Calls that wait go on waiting for new permits. If the semaphore was made with `permits`, the next acquisition sets
   * the number again.
   *
   * @returns true if there was such a semaphore. Rejects as {@link trySetPermits} does
   */
  delete(): Promise<boolean> {
    return this.#requests.delete()
  }

  /**
   * Acquires permits, all of them or none, and waits for that, after all who have waited for longer: for `waitMs` at
   * most, and where neither the call nor the client gives that, without an end. Woken by a message, and by the end of
   * a lease of somebody who died.
   *
   * Without `leaseMs` the watchdog renews their lease until they are released.
   *
   * @returns the permits. Rejects with `signal.reason` when aborted; with `WaitTimeoutError` at the end of `waitMs`;
   * with `InvalidArgumentError` for bad input, and for more permits than there are in all, also when these become too
   * few; with `RedisUnavailableError` or `RedisRefusedError` when Redis was out for `outageMs`; with `ClosedError` after
   * `close()`. Nothing is taken, or left behind, then.
   */
  acquire(options?: PermitOptions): Promise<Permit>
  async acquire(options?: PermitOptions, ...others: never[]): Promise<Permit> {
    return this.#acquireInTime(acquireOptions(options, others, this.#locks.defaults))
  }

  /**
   * Acquires permits if that is possible in the time given: without `waitMs` it asks once, and gets none where
   * anybody waits.
   *
   * @returns the permits; null when they were not to be had. Never null for an outage: rejects as
   * {@link acquire} does
   */
  tryAcquire(options?: TryPermitOptions): Promise<Permit | null>
  async tryAcquire(options?: TryPermitOptions, ...others: never[]): Promise<Permit | null> {
    return this.#acquire(tryAcquireOptions(options, others, this.#locks.defaults))
  }

  /**
   * Runs `fn` while holding permits, and gives them back whatever comes of it.
   *
   * @param options as for {@link acquire}
   * @returns what `fn` returns. Rejects with what `fn` rejects with; as {@link acquire} does when the permits
   * are not acquired; with `LeaseLostError` when their lease was lost before `fn` ended:
   * the error of `fn` is then the `cause`.
   * A release that Redis does not confirm is told by the client's `error` event, since the work is done.
   */
  async using<T>(fn: (permit: Permit) => Promise<T> | T, options?: PermitOptions): Promise<T> {
    assertFunction(fn)
    return this.#do(fn, await this.acquire(options))
  }

  /**
   * The same where the permits are to be had, or become so in the time given.
   *
   * @param options as for {@link tryAcquire}
   * @returns what `fn` returns; null, or `otherwise` where that is given, without a call of `fn`, when they were
   * not to be had. Rejects as {@link using} does
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
