import { LeaseLostError, NotReleasedError } from '../../errors.ts'
import { behind, handleClassOf } from '../../kit/handle.ts'
import { BaseLease } from '../../lease/base-lease.ts'
import { HeldLease, LEASE_NAMING, type Lease } from '../../lease/lease.ts'
import { LeaseSignal } from '../../lease/lease-signal.ts'
import type { OneLock } from '../lock/one-lock.ts'

const MEMBERS = [
  'name',
  'leases',
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

interface TakenLock {
  readonly lock: OneLock
  readonly lease: Lease
}

/**
 * One acquisition of a `MultiLock`. It is valid until the release, or until the first of its locks is lost. `release()`
 * ends exactly this acquisition, once.
 */
export interface MultiLease extends Pick<HeldMultiLease, (typeof MEMBERS)[number]> {}

/** The object behind a {@link MultiLease}. */
export class HeldMultiLease extends BaseLease {
  /** The name of the `MultiLock`: the names of its locks with ` + ` between them. */
  readonly name: string
  /**
   * The lease of each lock, in the order in which you passed the locks. Each lease has the token of its lock. A lock
   * that you passed twice is listed once.
   */
  readonly leases: readonly Lease[]
  readonly #parts: readonly HeldLease[]
  #handle: MultiLease | undefined
  #signal: LeaseSignal | undefined
  #releaseRequested: AbortController | undefined
  readonly #stops: (() => void)[] = []
  /** True after the release. The signals of this lease then no longer listen to the leases of its locks. */
  #isOver = false
  /** The losses of locks that the release found. */
  #losses: readonly Error[] = []
  #unconfirmed: readonly Error[] = []

  readonly #locks: readonly OneLock[]

  /**
   * @param taken each lock with its lease
   * @param scoped true if code of Holdfast releases the lease, so that `unlock()` does not
   * @param calledAt when the call began, in milliseconds on the monotonic clock
   * @internal
   */
  constructor(name: string, taken: readonly TakenLock[], scoped: boolean, calledAt: number) {
    super(scoped, calledAt)
    this.name = name
    this.leases = taken.map(({ lease }) => lease)
    this.#locks = taken.map(({ lock }) => lock)
    this.#parts = this.leases.map((lease) => behind(lease, HeldLease) as HeldLease)
  }

  /**
   * True if the owner of each lease still holds its lock, according to Redis.
   *
   * @internal
   */
  async isHeld(): Promise<boolean> {
    const counts = this.#locks.map((lock, n) => lock.holdCountOf(this.leases[n]?.owner))
    return (await Promise.all(counts)).every((count) => count > 0)
  }

  /**
   * The highest fencing token of the locks. It is greater than the token of every earlier acquisition of the same locks
   * together. If other code protects the same resource with one of these locks alone or in another group, pass the
   * token of this lock from {@link leases}.
   */
  get token(): number {
    return Math.max(...this.leases.map(({ token }) => token))
  }

  /** Aborts when the signal of any of the {@link leases} aborts. */
  get signal(): AbortSignal {
    if (this.#signal === undefined) {
      const signals = this.leases.map(({ signal }) => signal)
      const isAnyAborted = () => signals.some(({ aborted }) => aborted)
      const whole = new LeaseSignal(isAnyAborted)
      this.#signal = whole
      this.#whenAny(signals, (reason) => whole.abort(reason))
    }
    return this.#signal.signal
  }

  /** Aborts when another client requests the release of any of the locks, as `releaseRequested` of one lease does. */
  get releaseRequested(): AbortSignal {
    if (this.#releaseRequested === undefined) {
      const whole = new AbortController()
      this.#releaseRequested = whole
      const signals = this.leases.map(({ releaseRequested }) => releaseRequested)
      this.#whenAny(signals, (reason) => whole.abort(reason))
    }
    return this.#releaseRequested.signal
  }

  /** Returns for how long all locks remain valid without a renewal, in milliseconds. */
  remaining(): number {
    return Math.min(...this.leases.map((lease) => lease.remaining()))
  }

  /**
   * Throws unless all locks are valid.
   *
   * @throws the error of the first lease that is no longer valid, or `InvalidArgumentError` after the release
   */
  assertValid(): void {
    this.assertNotReleased()
    for (const lease of this.leases) lease.assertValid()
  }

  /**
   * Extends the leases of all locks, so that each lease lasts at least `leaseMs` from now. Never shortens a lease.
   *
   * @param leaseMs a positive whole number of milliseconds
   * @returns rejects with the error of the first lease that could not be extended. Other leases may have been extended
   */
  async extend(leaseMs: number): Promise<void> {
    this.assertNotReleased()
    await Promise.all(this.leases.map((lease) => lease.extend(leaseMs)))
  }

  /**
   * For `await using`: like {@link release}, but rejects if a lock was lost before, as `unlock()` does. Does not report
   * a loss that was already reported.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.released && !this.endedByAnother) return
    const untold = this.#parts.filter((lease) => !lease.released || lease.endedByAnother)
    if (await this.release()) return
    const losses = untold.flatMap(({ reported, hold }) =>
      !reported && hold.loss instanceof LeaseLostError ? [hold.loss] : [],
    )
    if (losses.length > 0) throw oneOf(losses, this.name)
  }

  /** @internal */
  get handle(): MultiLease {
    this.#handle ??= new MultiLeaseHandle(this)
    return this.#handle
  }

  /** @internal */
  protected notifyHolders(reasonOf: (lease: { name: string; token: number }) => Error): void {
    for (const one of this.#parts) one.endedBy(reasonOf)
  }

  /** @internal */
  whyEnded(): Error {
    return oneOf([...this.#losses, ...this.#unconfirmed], this.name)
  }

  /** @internal */
  override get wasLost(): boolean {
    return this.#losses.length > 0
  }

  /** @internal */
  get live(): boolean {
    // One held lock is enough, because `unlock()` must still release this lock.
    return !this.released && this.#parts.some(({ live }) => live)
  }

  /** @internal */
  get lostAt(): number | undefined {
    if (this.live) return undefined
    const lostAt = this.#parts.flatMap((lease) => lease.lostAt ?? [])
    return lostAt.length > 0 ? Math.max(...lostAt) : undefined
  }

  /** @internal */
  get leaseMs(): number {
    return Math.max(...this.#parts.map(({ leaseMs }) => leaseMs))
  }

  /** @internal */
  get holdIdentity(): object {
    return this
  }

  /**
   * Calls `abort` when any of the signals aborts. The listeners are removed at the release, because the hold may
   * continue and have many more acquisitions.
   */
  #whenAny(signals: readonly AbortSignal[], abort: (reason: Error) => void): void {
    for (const signal of signals) {
      const aborted = () => abort(signal.reason as Error)
      if (signal.aborted) aborted()
      else if (!this.#isOver) {
        signal.addEventListener('abort', aborted, { once: true })
        this.#stops.push(() => signal.removeEventListener('abort', aborted))
      }
    }
  }

  /** @internal */
  protected async undo(): Promise<boolean> {
    const done = await Promise.allSettled(this.leases.map((lease) => lease.release()))
    this.#isOver = true
    for (const stop of this.#stops.splice(0)) stop()
    // A lock also counts as lost if an `unlock()`, perhaps of another task, has ended its hold.
    this.#losses = this.#parts.flatMap(({ hold }, n) => {
      const one = done[n]
      const held = one?.status === 'fulfilled' ? one.value : hold.lostAt === undefined
      return held ? [] : (hold.loss ?? [])
    })
    this.#unconfirmed = done.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    if (this.#unconfirmed.length > 0) throw oneOf(this.#unconfirmed, this.name)
    return done.every((one) => one.status === 'fulfilled' && one.value)
  }
}

const MultiLeaseHandle = handleClassOf(HeldMultiLease, MEMBERS, LEASE_NAMING)

/** @returns the error itself if there is only one, otherwise one error that contains all */
function oneOf(errors: readonly Error[], lockName: string): Error {
  const [first, ...others] = errors
  return first !== undefined && others.length === 0 ? first : new NotReleasedError(errors, lockName)
}
