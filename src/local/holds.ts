import type { ClosedError, LeaseLostError } from '../errors.ts'
import type { HoldEvent } from '../events.ts'
import type { Moment } from '../kit/clock.ts'
import { Hold } from '../lease/hold.ts'
import type { AcquisitionObservation } from '../lock-observer.ts'
import type { Granted, SeenHold } from '../servers/answers.ts'
import { LateGrant } from '../servers/call-failure.ts'
import type { RenewedLease } from '../servers/renewed-lease.ts'
import type { AcquireRequest, Waiter } from '../waiting/waiter.ts'
import { HoldSet } from './hold-set.ts'
import { type KindVerbs, renewalOf, toRenew } from './kind-verbs.ts'
import { LaterCallers } from './later-callers.ts'
import type { Services } from './services.ts'

interface HeldLock {
  readonly name: string
  readonly rawName: string
  readonly services: Services
  remoteOf(hold: Hold): KindVerbs
  /** Called when a hold was lost, so that the waiters of this client ask the server again. */
  checkAgain(): void
}

/**
 * The holds of one lock in this client. A hold is in this set from its beginning until its release
 * or its loss.
 */
export class Holds extends HoldSet {
  readonly #lock: HeldLock
  readonly #services: Services
  #forcedFrom: SeenHold | undefined
  #laterCallers: LaterCallers | undefined

  constructor(lock: HeldLock) {
    super()
    this.#lock = lock
    this.#services = lock.services
  }

  /**
   * Makes the hold of a grant. The waiter's owner id then belongs to the hold. If the lease has
   * expired, and the retry budget is used up, rejects the waiter.
   *
   * @param leaseMs the lease that the server granted, in milliseconds
   * @returns null if the lease expired before the grant arrived, or if the waiter has no owner id
   *   any longer
   */
  newHold(
    waiter: Waiter,
    { token: lastToken, reserved = 0, onHeld }: Omit<Granted, 'kind'>,
    sentAt: Moment,
    leaseMs = waiter.request.leaseMs,
  ): Hold | null {
    const { request, ownerId } = waiter
    if (ownerId === undefined) return null
    this.#services.shortLeases.check(this.#lock.name, request.kind, leaseMs)
    const hold = new Hold(
      {
        lockName: this.#lock.name,
        owner: request.owner,
        id: { rawName: this.#lock.rawName, ownerId },
        token: lastToken - reserved,
        lastToken,
        kind: request.kind,
        leaseMs,
        sentAt,
      },
      this.#services.clock,
      this,
    )
    if (hold.remainingMs() > 0) {
      // The owner id now belongs to the hold. So the hold must know until when late requests with
      // this id may run.
      hold.inDoubtUntil(waiter.doubtUntilMs)
      waiter.doubtUntilMs = 0
      waiter.ownerId = undefined
      waiter.retryBudget.answered(sentAt.monotonic)
      onHeld?.(() => toRenew(hold))
      return hold
    }
    // The lease has expired. The waiter keeps its owner id, so its next request renews this grant.
    // If the waiter gives up, `abandonId` releases the grant.
    hold.finish()
    waiter.doubtUntilMs = Math.max(waiter.doubtUntilMs, this.#services.clock.monotonic())
    if (waiter.retryBudget.failed(new LateGrant(), sentAt.monotonic) === null) {
      waiter.reject(waiter.retryBudget.error('not acquired'))
    }
    return null
  }

  startHold(hold: Hold): void {
    // The hold may have ended between its grant and this call.
    if (!hold.live) return
    // Permits are independent of each other, so a new hold of permits ends no other hold.
    if (!this.isEmpty && !hold.kind.isCounted) {
      for (const other of this.notBeside(hold)) {
        other.lose('gone', 'the server gave the lock to another owner')
      }
      // A store may have received the new token from this owner, and would then reject a lower
      // token. So a shared hold of the same owner also gets the new token.
      const beside = this.beside(hold)
      if (beside?.kind.isShared) beside.token = Math.max(beside.token, hold.token)
    }
    this.add(hold)
    this.#services.watchdog.track(hold)
    if (hold.calledAt === 0) return
    this.#laterCallers ??= new LaterCallers(this, this.#services.clock)
    this.#laterCallers.check()
  }

  /** Asks the server for the remaining lease. */
  async readRemaining(hold: Hold): Promise<RenewedLease> {
    const { server, limits } = this.#services
    const asked = renewalOf(hold, server).renew([hold.id], 0, limits.commandTimeoutMs)
    return (await asked)[0] as RenewedLease
  }

  /**
   * Called after `forceUnlock()` ended this hold on the server. If the client handles the grant of
   * the hold later in the same turn of the event loop, `report` ends the hold.
   */
  forced(seen: SeenHold): void {
    const own = this.all.find((hold) => isOf(hold, seen))
    if (own !== undefined) {
      own.lose('forced', 'forceUnlock() of this client ended it')
      return
    }
    this.#forcedFrom = seen
    this.#services.clock.nextTurn(() => {
      this.#forcedFrom = undefined
    })
  }

  /**
   * Reports a new hold to the observer, and emits `acquired`.
   *
   * @param waitedMs how long the caller waited, in milliseconds
   */
  report(hold: Hold, waitedMs: number, acquisition: AcquisitionObservation): void {
    hold.reported = true
    this.#services.revocations.started()
    hold.observation = this.#services.observer.holding(hold, acquisition)
    // The fields are written out, because a spread takes longer than all other steps of the
    // acquisition.
    const { lockName: name, id, token } = hold
    this.#services.emit('acquired', { name, owner: id.ownerId, token, waitedMs })
    const from = this.#forcedFrom
    if (from !== undefined && isOf(hold, from)) this.forced(from)
  }

  /**
   * Makes the watchdog renew the hold for this acquisition. Does nothing if the lease is fixed. If
   * the watchdog did not renew the hold before, the hold gets the `maxHoldMs` of this acquisition
   * as its limit.
   *
   * @param sentAt when the request was sent, on the monotonic clock
   */
  watch(hold: Hold, { lease, leaseMs }: AcquireRequest, sentAt = hold.beganAt): void {
    if (!lease?.watched || !hold.live) return
    if (hold.renewMs === 0) hold.limit(lease.maxHoldMs, sentAt)
    // A new array saves memory, because `push` would reserve space for 17 numbers in each hold.
    hold.watched = [...hold.watched, leaseMs]
    this.#renewTo(hold, Math.max(hold.renewMs, leaseMs))
  }

  /**
   * Ends the renewal of the hold for one acquisition. The watchdog continues if it also renews the
   * hold for another acquisition.
   *
   * @param leaseMs the renewed lease of this acquisition, in milliseconds
   */
  unwatch(hold: Hold, leaseMs: number): void {
    const last = hold.watched.lastIndexOf(leaseMs)
    hold.watched = hold.watched.filter((_, i) => i !== last)
    const { watched } = hold
    if (!watched.includes(hold.renewMs)) this.#renewTo(hold, Math.max(0, ...watched))
  }

  #renewTo(hold: Hold, leaseMs: number): void {
    if (hold.renewMs === leaseMs) return
    hold.renewMs = leaseMs
    if (leaseMs > 0) {
      this.#services.watchdog.watch(hold)
      this.#services.presence.renews(leaseMs)
    } else {
      hold.limitAt = Infinity
      this.#services.watchdog.unwatch(hold)
    }
  }

  /**
   * Ends the hold in this client at once. The server may still have the hold, so a release must
   * follow.
   */
  endHold(hold: Hold, reason: ClosedError | undefined): void {
    this.#services.watchdog.untrack(hold)
    // The hold leaves the set first, because `hold.finish` calls listeners.
    this.remove(hold)
    hold.finish(reason)
    if (reason === undefined) hold.observation.letGo()
    else hold.observation.ended('closed')
  }

  /**
   * Reports the answer to the release of the hold. If the server no longer had the hold, the hold
   * is lost.
   *
   * @param wasHeld true if the server still had the hold
   * @returns `wasHeld`
   */
  handleRelease(hold: Hold, wasHeld: boolean): boolean {
    if (!wasHeld) hold.loseGone()
    else if (hold.reported) this.#services.emit('released', eventOf(hold))
    hold.observation.ended('released')
    return wasHeld
  }

  lost(hold: Hold, error: LeaseLostError): void {
    const isByTime = error.reason === 'expired'
    this.#services.watchdog.untrack(hold)
    const wasHeld = this.remove(hold)
    this.#services.emit('lost', { ...eventOf(hold), error })
    const stalledMs = isByTime ? this.#services.watchdog.stalledMs(hold) : undefined
    hold.observation.ended(error.reason, error, stalledMs)
    if (!wasHeld) return
    if (isByTime) this.#lock.remoteOf(hold).ranOut?.(hold.id.ownerId)
    this.#lock.checkAgain()
  }
}

/**
 * True if the server reported this hold: the owner id is the same, and the last token too if the
 * server reported a token.
 */
function isOf({ id, lastToken }: Hold, { owner, token }: SeenHold): boolean {
  return id.ownerId === owner && (token === null || token === lastToken)
}

function eventOf(hold: Hold): HoldEvent {
  return { name: hold.lockName, owner: hold.id.ownerId, token: hold.token }
}
