import { type InvalidArgumentError, LeaseLostError, releasedError } from '../errors.ts'
import type { Hold } from './hold.ts'

/** What a lease asks of the lock it came from. */
export interface LeaseActions {
  release(): Promise<boolean>
  extend(leaseMs: number): Promise<void>
}

/**
 * One acquisition of a lock: the right to act until a moment, which is judged by the holder's own
 * clocks. `release()` undoes exactly this acquisition, once.
 */
export class Lease implements AsyncDisposable {
  readonly #hold: Hold
  readonly #actions: LeaseActions
  /** @internal */
  readonly scoped: boolean // `using` acquired it, and so releases it.
  /** @internal */
  readonly askedAt: number
  #released: Promise<boolean> | undefined
  /**
   * Whether its holder was told that it is lost.
   *
   * @internal
   */
  told = false

  /** @internal */
  constructor(hold: Hold, scoped: boolean, askedAt: number, actions: LeaseActions) {
    this.#hold = hold
    this.scoped = scoped
    this.askedAt = askedAt
    this.#actions = actions
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
   * acquisitions of one hold. A safe integer until the year 2255.
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

  /** Whether this acquisition may still be relied upon, judged by the clocks at this moment. */
  get valid(): boolean {
    return this.remaining() > 0
  }

  /**
   * How long it may still be relied upon unless it is renewed, in milliseconds; 0 when it is lost
   * or released. Counted from before the request was sent, on the worse of the monotonic and the
   * wall clock, less 1 % + 2 ms for drift and a margin of 5 %, at most 100 ms.
   */
  remaining(): number {
    return this.#released === undefined ? this.#hold.remainingMs() : 0
  }

  /**
   * For the line before a write that matters.
   *
   * @throws {@link LeaseLostError} when the lease is lost, {@link InvalidArgumentError} when it was
   * released. It cannot promise that the *next* write arrives in time: for that the write needs
   * the {@link token}.
   */
  assertValid(): void {
    if (this.#released !== undefined) throw releasedError(this.name)
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
   * {@link InvalidArgumentError} for a bad time or a released lease, and with
   * `RedisUnavailableError` or `RedisRefusedError` when Redis did not confirm it; the lease then
   * stands as it was.
   */
  async extend(leaseMs: number): Promise<void> {
    if (this.#released !== undefined) throw releasedError(this.name)
    try {
      await this.#actions.extend(leaseMs)
    } catch (error) {
      this.told ||= error === this.#hold.loss
      throw error
    }
  }

  /**
   * Undoes this acquisition. The lock is free when all acquisitions of the hold are undone.
   * Calling it again returns the same promise and changes nothing.
   *
   * @returns true when the lock was still held; false when the lease had been lost before, so that
   * a `finally` does not hide the error of the work itself. Rejects with `RedisUnavailableError`
   * or `RedisRefusedError` when Redis did not confirm it within `outageMs`: it is then tried on in
   * the background, and the lock ends with its lease at the latest.
   */
  release(): Promise<boolean> {
    this.#released ??= this.#actions.release()
    return this.#released
  }

  /**
   * For `await using`: the same as {@link release}, but rejects when the lease had been lost before,
   * as `unlock()` does. Nothing is told twice: it does nothing where the lease was released before,
   * and is silent about a loss that {@link assertValid} or {@link extend} has told. An error of
   * the block itself is not hidden: JavaScript makes a `SuppressedError` of both.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#released !== undefined || (await this.release()) || this.told) return
    // Whoever closed the client knows that nothing is held any more.
    if (this.#hold.loss instanceof LeaseLostError) throw this.#hold.loss
  }

  /** @internal */
  get hold(): Hold {
    return this.#hold
  }

  /** @internal */
  get released(): boolean {
    return this.#released !== undefined
  }

  /** @internal */
  get live(): boolean {
    return this.#released === undefined && this.#hold.live
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
