import { releasedError } from '../errors.ts'
import { behind } from '../kit/handle.ts'
import type { LinkedList } from '../kit/linked-list.ts'
import { Printed } from '../kit/printed.ts'
import type { StoredLease } from '../owner/lease-holder.ts'

/**
 * The value of `#released` if an `unlock()` has ended the lease. Another task may have called this `unlock()`. A later
 * `release()` of the lease then resolves with false.
 */
const ENDED = Promise.resolve(false)

export function leaseBehind(lease: object): BaseLease {
  const inner = behind(lease, BaseLease)
  if (inner === undefined) throw new TypeError('This is no lease of Holdfast.')
  return inner
}

/** The common part of the lease of one lock and the lease of several locks. */
export abstract class BaseLease extends Printed implements AsyncDisposable {
  /** The name that was given to `getLock` or a similar method. For several locks, the name of the `MultiLock`. */
  abstract readonly name: string
  /** @internal */
  readonly scoped: boolean // True if `unlock()` must not release the lease.
  /** @internal */
  readonly calledAt: number
  #released: Promise<boolean> | undefined
  #list: LinkedList<StoredLease> | undefined
  #before: StoredLease | undefined
  #after: StoredLease | undefined

  /** @internal */
  constructor(scoped: boolean, calledAt: number) {
    super()
    this.scoped = scoped
    this.calledAt = calledAt
  }

  /** The greatest fencing token of the locks of this lease. */
  abstract readonly token: number

  /** True if this acquisition is valid now. For several locks, true if all of their leases are valid. */
  get valid(): boolean {
    return this.remaining() > 0
  }

  /**
   * How long the acquisition remains valid without a renewal, in milliseconds; 0 if it was lost or
   * released.
   */
  abstract remaining(): number

  /**
   * Ends this acquisition. A lock is free when all acquisitions of its hold are released. A further call returns the
   * same promise and changes nothing. For several locks, the call releases each lock, even if the release of another
   * lock fails.
   *
   * @returns true if the lock was still held; for several locks, true if all of them were still held. False if a lease
   * had ended before, for example by a loss. A loss is not an error here, so that a `release()` in a `finally` does not
   * hide the error of the work. Rejects with `RedisUnavailableError` or `RedisRefusedError` if Redis did not confirm
   * the release within `outageMs`. For several locks, rejects with `NotReleasedError` instead. The client then repeats
   * the release in the background, and the hold ends with its lease at the latest.
   */
  release(): Promise<boolean> {
    this.#released ??= this.#releaseOnce()
    return this.#released
  }

  /**
   * For `await using`: like {@link release}, but rejects if a lease had been lost before. Does not reject if the lease
   * has already reported the loss, or after `release()`.
   */
  abstract [Symbol.asyncDispose](): Promise<void>

  /** Returns the lease as logs and JSON show it. */
  toJSON(): Record<string, unknown> {
    const remainingMs = Math.ceil(this.remaining())
    return { name: this.name, token: this.token, valid: remainingMs > 0, remainingMs }
  }

  #releaseOnce(): Promise<boolean> {
    this.#list?.remove(this)
    return this.undo()
  }

  /** @internal */
  protected abstract undo(): Promise<boolean>

  /**
   * True if this lease is for several locks, and one of them was lost. If `release()` rejects because of another lock,
   * this property still tells that a lock was lost.
   *
   * @internal
   */
  get wasLost(): boolean {
    return false
  }

  /**
   * Called when an `unlock()` has released this lease, perhaps in another task. Aborts the signal if this was the last
   * lease of its hold, because code may still rely on the lease.
   *
   * @internal
   */
  endedBy(reasonOf: (lease: { name: string; token: number }) => Error): void {
    this.#released = ENDED
    this.notifyHolders(reasonOf)
  }

  /** @internal */
  protected abstract notifyHolders(
    reasonOf: (lease: { name: string; token: number }) => Error,
  ): void

  /** @internal */
  get endedByAnother(): boolean {
    return this.#released === ENDED
  }

  /** @internal */
  abstract whyEnded(): Error

  /** @internal */
  protected releasedBefore(): Error {
    return releasedError(this.name)
  }

  /** @internal */
  protected assertNotReleased(): void {
    if (this.released && !this.endedByAnother) throw this.releasedBefore()
  }

  /** @internal */
  get released(): boolean {
    return this.#released !== undefined
  }

  /** @internal */
  abstract readonly live: boolean
  /** @internal */
  abstract readonly lostAt: number | undefined
  /** @internal */
  abstract readonly leaseMs: number
  /** @internal */
  abstract readonly holdIdentity: object

  /** @internal */
  get list(): LinkedList<StoredLease> | undefined {
    return this.#list
  }
  /** @internal */
  set list(list: LinkedList<StoredLease> | undefined) {
    this.#list = list
  }

  /** @internal */
  get before(): StoredLease | undefined {
    return this.#before
  }
  /** @internal */
  set before(lease: StoredLease | undefined) {
    this.#before = lease
  }

  /** @internal */
  get after(): StoredLease | undefined {
    return this.#after
  }
  /** @internal */
  set after(lease: StoredLease | undefined) {
    this.#after = lease
  }
}
