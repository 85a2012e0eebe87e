import { type InvalidArgumentError, LeaseLostError } from '../errors.ts'
import { handleClassOf } from '../kit/handle.ts'
import { BaseLease } from './base-lease.ts'
import type { Hold } from './hold.ts'

/** The members that users have. */
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
 * One acquisition of a lock: the right to act until a moment, which is judged by the holder's own
 * clocks. `release()` undoes exactly this acquisition, once.
 */
export interface Lease extends Pick<HeldLease, (typeof LEASE_MEMBERS)[number]> {}

/** A lease of this client. */
export abstract class HeldLease extends BaseLease {
  readonly #hold: Hold
  #handle: Lease | undefined
  /**
   * Whether its holder was told that it is lost.
   *
   * @internal
   */
  told = false

  /** @internal */
  constructor(hold: Hold, scoped: boolean, askedAt: number) {
    super(scoped, askedAt)
    this.#hold = hold
  }

  /** The name of the lock, as it was given to `getLock`. */
  get name(): string {
    return this.#hold.lockName
  }

  /**
   * The owner as Redis knows it: `<clientId>:<owner>`, the field of the lock's hash. Where the lock was
   * passed on inside the client it is the name of the one before; `token` tells the holds apart.
   */
  get owner(): string {
    return this.#hold.id.wireOwner
  }

  /**
   * The fencing token: greater than that of every hold of this lock before. The same for all
   * acquisitions of one hold. A safe integer until the year 2255. That of the upgradable side of a read-write lock rises
   * to the token of each write of its owner: read it when you use it.
   */
  get token(): number {
    return this.#hold.token
  }

  /**
   * Aborts when the lease is lost or no longer safe, a margin before the server can give the lock
   * away, with a {@link LeaseLostError} as its reason; or when the client is closed, with a
   * `ClosedError`. It does not abort at an ordinary release, but does at an `unlock()` that may have
   * been another task's.
   * `aborted` looks at the clocks each time it is read, so it is right also after a blocked event
   * loop, a stopped process or a suspended machine.
   */
  get signal(): AbortSignal {
    return this.#hold.signal
  }

  /**
   * Aborts when another client or an operator asks for the release of the lock, with a `ReleaseRequestedError`. Nothing
   * is taken: the lease goes on, and its holder may ignore the request. To read it is to listen, from a moment
   * later on. While nobody reads it, and nobody listens to the event `releaseRequested`, requests are answered as not
   * heard.
   */
  abstract readonly releaseRequested: AbortSignal

  /**
   * How long it may still be relied upon unless it is renewed, in milliseconds; 0 when it is lost
   * or released. Counted from before the request was sent, on the worse of the monotonic and the
   * wall clock, less 1 % + 2 ms for drift and a margin of 5 %, at most 100 ms.
   */
  remaining(): number {
    return this.released ? 0 : this.#hold.remainingMs()
  }

  /**
   * For the line before a write that matters.
   *
   * @throws {@link LeaseLostError} when the lease is lost, {@link InvalidArgumentError} when it was
   * released. It cannot promise that the *next* write arrives in time: for that the write needs
   * the {@link token}.
   */
  assertValid(): void {
    this.assertNotReleased()
    this.#hold.loseIfExpired()
    if (this.#hold.live) return
    this.told = true
    throw this.#hold.over()
  }

  /**
   * Makes the lease last at least this long from now, also a fixed one. It is never shortened.
   *
   * @param leaseMs a positive whole number of milliseconds
   * @returns rejects with {@link LeaseLostError} when the lock is not held any more, with
   * {@link InvalidArgumentError} for a bad time, one beyond `maxHoldMs`, or a released lease, and with
   * `RedisUnavailableError` or `RedisRefusedError` when Redis did not confirm it; the lease then
   * stands as it was.
   */
  async extend(leaseMs: number): Promise<void> {
    this.assertNotReleased()
    try {
      await this.lengthen(leaseMs)
    } catch (error) {
      this.told ||= error === this.#hold.loss
      throw error
    }
  }

  /**
   * For `await using`: the same as {@link release}, but rejects when the lease had been lost before,
   * as `unlock()` does. Nothing is told twice: it does nothing where the lease was released before,
   * and is silent about a loss that {@link assertValid} or {@link extend} has told. An error of
   * the block itself is not hidden: JavaScript makes a `SuppressedError` of both.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    if ((this.released && !this.endedByAnother) || (await this.release()) || this.told) return
    // Whoever closed the client knows that nothing is held any more.
    if (this.#hold.loss instanceof LeaseLostError) throw this.#hold.loss
  }

  /**
   * What users have of it.
   *
   * @internal
   */
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
  protected tellHolders(reasonOf: (lease: { name: string; token: number }) => Error): void {
    this.#hold.endedBy(() => reasonOf(this))
  }

  /** @internal */
  over(): Error {
    return this.#hold.over()
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
  get of(): object {
    return this.#hold
  }
}

/** @internal */
export const LEASE_NAMING = { variable: 'lease', instead: { unlock: 'release()' } }
const LeaseHandle = handleClassOf(HeldLease, LEASE_MEMBERS, LEASE_NAMING)
