import type { AcquirePath } from '../../diagnostics.ts'
import type { Hold } from '../../lease/hold.ts'
import type { Lease } from '../../lease/lease.ts'
import { newLease } from '../../local/local-lease.ts'
import { RacingWaiter } from '../../local/racing-waiter.ts'
import type { Held, LastHolder } from '../../servers/answers.ts'
import { type Hint, READERS } from '../../servers/hint.ts'
import type { Waiter } from '../../waiting/waiter.ts'
import { ASK_AGAIN_MS } from './read-write-verbs.ts'
import { HeldUpgradableLease, type Upgrader } from './upgradable-lease.ts'

export class ReadWriteWaiter extends RacingWaiter<Lease> {
  /** The upgradable hold that the waiter upgrades. Undefined if the waiter does not upgrade. */
  #upgraded: Hold | undefined
  /**
   * The id of the client's wait for the write lock or the upgradable lock, from the server's
   * answer. Empty before the first such answer, and for a reader.
   */
  #waitId = ''

  override start(): void {
    const { lock, request } = this
    const beside = lock.holds.beside(request)
    if (!request.kind.isShared) this.#upgraded = beside
    const before = this.isSingleAttempt && beside === undefined ? this.#before : undefined
    // The waiter gives up only if a holder is known. Without a known holder, the server may be
    // silent, and null would hide the outage.
    if (before !== undefined && (before.sight !== undefined || lock.excludes(before.request))) {
      this.sight = before.sight
      this.resolve(null)
      return
    }
    super.start()
  }

  /**
   * A waiter of this client that must be served before this waiter, even if the server does not
   * know the earlier waiter yet.
   */
  get #before(): Waiter | undefined {
    const { first, firstAside } = this.lock.waiters
    if (!this.request.kind.isShared) return first ?? firstAside
    return first?.request.kind.isShared ? undefined : first
  }

  resultOf(hold: Hold): Lease {
    return newLease(this, hold)
  }

  override saw(seen: LastHolder & Pick<Held, 'waitId'>): void {
    this.#waitId = seen.waitId ?? this.#waitId
    super.saw(seen)
  }

  override isMeant(hint: Hint): boolean {
    if (hint.kind === 'turn') return hint.of === (this.#waitId || READERS)
    return hint.kind === 'missed' || hint.isForAll
  }

  override woken(): void {
    this.#rejectIfLost()
    super.woken()
  }

  override accept(hold: Hold, path?: AcquirePath): void {
    this.#rejectIfLost()
    super.accept(hold, path)
  }

  /**
   * The pause before the next request, in milliseconds. A writer sends requests even while readers
   * of its own client keep it out. Otherwise the server would not know that a writer waits, and
   * would admit new readers of other clients forever.
   */
  protected override get keptOutMs(): number {
    const { lock, refusedAt } = this
    const ms = super.keptOutMs
    if (ms === 0 || lock.holds.exclusive !== undefined) return ms
    return Math.max(0, refusedAt + ASK_AGAIN_MS - lock.services.clock.monotonic())
  }

  /**
   * Rejects the waiter if the upgradable hold is lost. Another owner may have written after the
   * loss, so the data that this owner has read may be outdated.
   */
  #rejectIfLost(): void {
    this.#upgraded?.loseIfExpired()
    if (this.#upgraded?.lostAt !== undefined) this.reject(this.#upgraded.whyEnded())
  }
}

export class UpgradableWaiter extends ReadWriteWaiter {
  override resultOf(hold: Hold): Lease {
    const { lock, request } = this
    const lease = new HeldUpgradableLease(lock, hold, request, request.caller as Upgrader)
    return newLease(this, hold, lease)
  }
}
