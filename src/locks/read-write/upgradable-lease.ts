import { InvalidArgumentError, LeaseLostError } from '../../errors.ts'
import { handleClassOf } from '../../kit/handle.ts'
import type { Hold } from '../../lease/hold.ts'
import { LEASE_MEMBERS, LEASE_NAMING, type Lease } from '../../lease/lease.ts'
import { LocalLease } from '../../local/local-lease.ts'
import type { LocalLock } from '../../local/local-lock.ts'
import type { LockOptions, TryLockOptions } from '../../options/options.ts'
import type { LeaseRequest } from '../../waiting/waiter.ts'

/**
 * The members of the upgradable side that its leases use. `upgrade` and `tryUpgrade` acquire the
 * write lock for the owner of `hold`. `signal` aborts when the upgradable lease is released.
 *
 * @internal
 */
export interface Upgrader extends NonNullable<LeaseRequest['caller']> {
  upgrade(hold: Hold, options: LockOptions | undefined, signal: AbortSignal): Promise<Lease>
  tryUpgrade(
    hold: Hold,
    options: TryLockOptions | undefined,
    signal: AbortSignal,
  ): Promise<Lease | null>
}

const MEMBERS = [...LEASE_MEMBERS, 'upgrade', 'tryUpgrade'] as const

/** One acquisition of the upgradable lock. The holder reads together with other readers, and can upgrade to write. */
export interface UpgradableLease extends Pick<HeldUpgradableLease, (typeof MEMBERS)[number]> {}

/** The object behind an {@link UpgradableLease}. */
export class HeldUpgradableLease extends LocalLease {
  readonly #upgrader: Upgrader
  /** Aborts pending upgrades when the lease is released. Undefined before the first upgrade. */
  #released: AbortController | undefined

  /** @internal */
  constructor(lock: LocalLock, hold: Hold, request: LeaseRequest, upgrader: Upgrader) {
    super(lock, hold, request)
    this.#upgrader = upgrader
  }

  /**
   * Acquires the write lock for the owner of this lease, as `writeLock().lock()` of this owner does. The call needs no
   * frame. It waits until all other readers have released, and is served before all other writers. No other owner has
   * written since this lease was acquired, so the data that you have read under this lease is still current.
   *
   * After you release the lease of the write lock, this lease continues, and the owner keeps reading.
   *
   * @param options as for `lock()` of the write lock: `waitMs`, `leaseMs`, `renew`, `maxHoldMs`, `signal`
   * @returns the lease of the write lock. Rejects as `lock()` does. Also rejects with `InvalidArgumentError` if this
   * lease was released, and with `LeaseLostError` if this lease was lost before or during the wait
   */
  async upgrade(options?: LockOptions): Promise<Lease> {
    return this.#upgraded((signal) => this.#upgrader.upgrade(this.hold, options, signal))
  }

  /**
   * Like {@link upgrade}, but gives up if the other readers do not release in time. Without `waitMs`,
   * the call tries once and does not wait.
   *
   * @returns the lease of the write lock; null if other owners still read. Rejects as {@link upgrade} does
   */
  async tryUpgrade(options?: TryLockOptions): Promise<Lease | null> {
    return this.#upgraded((signal) => this.#upgrader.tryUpgrade(this.hold, options, signal))
  }

  async #upgraded<L>(acquire: (released: AbortSignal) => Promise<L>): Promise<L> {
    const { hold } = this
    if (this.released) throw this.#releasedError()
    this.#released ??= new AbortController()
    hold.loseIfExpired()
    try {
      if (!hold.live) throw hold.whyEnded()
      return await acquire(this.#released.signal)
    } catch (error) {
      if (error !== hold.loss || !(error instanceof LeaseLostError)) throw error
      this.reported = true
      throw new LeaseLostError(
        `Read-write lock "${this.name}" was not upgraded: its upgradable lease (token ${error.token}) was lost, and ` +
          'another owner may have written since. Acquire the upgradable lock again and read again before you write.',
        this.name,
        error.reason,
        error.token,
        error,
      )
    }
  }

  /** @internal */
  protected override newHandle(): UpgradableLease {
    return new UpgradableLeaseHandle(this)
  }

  /** @internal */
  protected override undo(): Promise<boolean> {
    this.#released?.abort(this.#releasedError())
    return super.undo()
  }

  #releasedError(): InvalidArgumentError {
    return new InvalidArgumentError(
      `Read-write lock "${this.name}" was not upgraded: its upgradable lease was released, and another owner may have ` +
        'written since. Release that lease only after the write. To write now, acquire the upgradable lock again and ' +
        'read again.',
      this.name,
    )
  }
}

const UpgradableLeaseHandle = handleClassOf(HeldUpgradableLease, MEMBERS, LEASE_NAMING)
