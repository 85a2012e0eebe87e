import { InvalidArgumentError } from '../errors.ts'
import type { Hold } from '../lease/hold.ts'
import { HeldLease, type Lease } from '../lease/lease.ts'
import { limitOf } from '../lease/loss.ts'
import { leaseMs as checkedLeaseMs } from '../options/input.ts'
import type { LeaseRequest } from '../waiting/waiter.ts'
import { extend } from './extend.ts'
import type { LocalLock } from './local-lock.ts'
import { assertNotLonger } from './longest-lease.ts'
import { releaseOne } from './release.ts'
import { leasesOf } from './services.ts'

export class LocalLease extends HeldLease {
  readonly #lock: LocalLock
  readonly #renewMs: number

  /** @internal */
  constructor(lock: LocalLock, hold: Hold, { lease: use, leaseMs }: LeaseRequest) {
    super(hold, use.scoped, use.calledAt)
    this.#lock = lock
    this.#renewMs = use.watched ? leaseMs : 0
  }

  /** @internal */
  get lock(): LocalLock {
    return this.#lock
  }

  get releaseRequested(): AbortSignal {
    return this.#lock.services.revocations.signalOf(this.hold)
  }

  /** @internal */
  protected undo(): Promise<boolean> {
    this.#lock.services.heldWatch?.released(this)
    return releaseOne(this.#lock, this.hold, this.#renewMs)
  }

  /** @internal */
  protected lengthen(givenMs: number): Promise<void> {
    const lock = this.#lock
    const leaseMs = checkedLeaseMs(givenMs, '`leaseMs`')
    assertNotLonger(lock.services, this.name, leaseMs)
    const { hold } = this
    hold.loseIfOver()
    const leftMs = Math.floor(hold.limitAt - lock.services.clock.monotonic())
    if (leaseMs > leftMs && hold.live) {
      throw new InvalidArgumentError(
        `Lock "${this.name}": extend(${leaseMs}) would exceed its \`${limitOf(hold)}\`, of which ${leftMs} ms are left. ` +
          'Extend by less, or acquire the lock with a longer limit.',
        this.name,
      )
    }
    return extend(lock, hold, leaseMs)
  }
}

/** A waiter whose request the server has granted. */
interface GrantedWaiter {
  readonly lock: LocalLock
  readonly request: LeaseRequest
  readonly calledFrom?: Error
}

/**
 * Creates the lease of a waiter whose request was granted. The `leaseHolder` of the request stores the
 * lease, so that `unlock()` finds it.
 *
 * @param lease the lease; by default a new `LocalLease`
 * @internal
 */
export function newLease(
  { lock, request, calledFrom }: GrantedWaiter,
  hold: Hold,
  lease: HeldLease = new LocalLease(lock, hold, request),
): Lease {
  const { leaseHolder } = request.lease
  const kept = leasesOf(lock.services, request.kind).add(leaseHolder, lock.rawName, lease)
  const { heldWatch } = lock.services
  if (heldWatch === undefined) hold.keptIn = kept
  else {
    heldWatch.held(lease, hold, calledFrom)
    // The watchdog keeps the hold in memory. If the hold referred to the lease, a lease that its caller has dropped
    // could not be garbage-collected.
    const known = new WeakRef(kept)
    hold.keptIn = { sweepLater: () => known.deref()?.sweepLater() }
  }
  return lease.handle
}
