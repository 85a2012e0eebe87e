import { type InvalidArgumentError, LeaseLostError } from '../errors.ts'
import { handleClassOf } from '../kit/handle.ts'
import { BaseLease } from './base-lease.ts'
import type { Hold } from './hold.ts'

export const LEASE_MEMBERS = [
  'name',
  'owner',
  'token',
  'signal',
  'releaseRequested',
  'valid',
  'remaining',
  'assertValid',
  'extend',
  'release',
  Symbol.asyncDispose,
] as const

/**
 * One acquisition of a lock. The holder's own clocks decide how long the lease is valid. `release()` ends only this
 * acquisition.
 */
export interface Lease extends Pick<HeldLease, (typeof LEASE_MEMBERS)[number]> {}

/** The internal object behind the lease of one lock. */
export abstract class HeldLease extends BaseLease {
  readonly #hold: Hold
  #handle: Lease | undefined
  /**
   * True if a method of the lease has thrown the loss to the caller.
   *
   * @internal
   */
  reported = false

  /** @internal */
  constructor(hold: Hold, scoped: boolean, calledAt: number) {
    super(scoped, calledAt)
    this.#hold = hold
  }

  /** The name of the lock or semaphore, as the caller gave it, for example to `getLock`. */
  get name(): string {
    return this.#hold.lockName
  }

  /**
   * The owner as Redis stores it: `<clientId>:<owner>`, a field of the lock's hash. If the client hands the lock over
   * to its next caller without a request to Redis, `owner` stays the same, and only `token` grows.
   */
  get owner(): string {
    return this.#hold.id.ownerId
  }

  /**
   * The fencing token: greater than the token of every earlier hold of this lock. All acquisitions of one hold have the
   * same token. The token is a safe integer until the year 2255. On the upgradable side of a read-write lock, the token
   * rises with each write of the owner. So read the token when you use it.
   */
  get token(): number {
    return this.#hold.token
  }

  /**
   * Aborts with a {@link LeaseLostError} when the lease is lost. If the lease expires and the event loop is not
   * blocked, the signal aborts shortly before the server can grant the lock to another owner. Aborts with a
   * `ClosedError` when the client is closed. An ordinary release does not abort the signal. An `unlock()` that may
   * belong to another task aborts the signal.
   *
   * `aborted` checks the clocks each time you read it. So it is correct even after a blocked event loop, a stopped
   * process or a suspended machine.
   */
  get signal(): AbortSignal {
    return this.#hold.signal
  }

  /**
   * Aborts with a `ReleaseRequestedError` when a client or an operator asks for the release of the lock. The lease
   * continues, and the holder may ignore the request. When code first reads this property, the client subscribes to
   * requests, which takes a moment. If no code has read this property, and the event `releaseRequested` has no
   * listener, the requester receives no confirmation.
   */
  abstract readonly releaseRequested: AbortSignal

  /**
   * How long the lease is still valid without a renewal, in milliseconds; 0 if it is lost or released. The lease counts
   * from just before its request was sent. If the monotonic clock and the wall clock differ, the clock that leaves less
   * time counts. The result is reduced by 1 % of the lease and 2 ms for drift. It is also reduced by a margin: 5 % of
   * the lease, at most 100 ms.
   */
  remaining(): number {
    return this.released ? 0 : this.#hold.remainingMs()
  }

  /**
   * Throws if the lease is not valid. Call this method right before an important write. The check does not guarantee
   * that the write arrives in time, so pass the {@link token} with the write.
   *
   * @throws {@link LeaseLostError} if the lease is lost, {@link InvalidArgumentError} if it was released, `ClosedError`
   * after `close()`
   */
  assertValid(): void {
    this.assertNotReleased()
    this.#hold.loseIfExpired()
    if (this.#hold.live) return
    this.reported = true
    throw this.#hold.whyEnded()
  }

  /**
   * Extends the lease to at least `leaseMs` milliseconds from now, even a fixed lease. Never shortens the lease.
   *
   * @param leaseMs a positive whole number of milliseconds
   * @returns rejects with {@link LeaseLostError} if the lock is no longer held, or with `ClosedError` after `close()`.
   * Rejects with {@link InvalidArgumentError} for an invalid time, a time beyond `maxHoldMs`, or a released lease.
   * Rejects with `RedisUnavailableError` or `RedisRefusedError` if Redis did not confirm the extension; the lease is
   * then valid only for as long as before.
   */
  async extend(leaseMs: number): Promise<void> {
    this.assertNotReleased()
    try {
      await this.lengthen(leaseMs)
    } catch (error) {
      this.reported ||= error === this.#hold.loss
      throw error
    }
  }

  /**
   * For `await using`: like {@link release}, but rejects if the lease had been lost before, as `unlock()` does. Does
   * nothing after `release()`. Does not reject if {@link assertValid} or {@link extend} has already reported the loss.
   * If the block throws too, JavaScript makes a `SuppressedError` of both errors.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    if ((this.released && !this.endedByAnother) || (await this.release()) || this.reported) return
    // After `close()` the loss is a `ClosedError`. The method does not throw this error, because
    // the caller of `close()` knows that the client holds nothing.
    if (this.#hold.loss instanceof LeaseLostError) throw this.#hold.loss
  }

  /** @internal */
  get handle(): Lease {
    this.#handle ??= this.newHandle()
    return this.#handle
  }

  /** @internal */
  protected newHandle(): Lease {
    return new LeaseHandle(this)
  }

  /** @internal */
  get hold(): Hold {
    return this.#hold
  }

  /** @internal */
  protected abstract lengthen(leaseMs: number): Promise<void>

  /** @internal */
  protected notifyHolders(reasonOf: (lease: { name: string; token: number }) => Error): void {
    this.#hold.endedBy(() => reasonOf(this))
  }

  /** @internal */
  whyEnded(): Error {
    return this.#hold.whyEnded()
  }

  /** @internal */
  get live(): boolean {
    return !this.released && this.#hold.live
  }

  /** @internal */
  get lostAt(): number | undefined {
    return this.#hold.lostAt
  }

  /** @internal */
  get leaseMs(): number {
    return this.#hold.leaseMs
  }

  /** @internal */
  get holdIdentity(): object {
    return this.#hold
  }
}

/** @internal */
export const LEASE_NAMING = { variable: 'lease', instead: { unlock: 'release()' } }
const LeaseHandle = handleClassOf(HeldLease, LEASE_MEMBERS, LEASE_NAMING)
