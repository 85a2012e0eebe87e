import type { LeaseLostError } from '../errors.ts'
import { elapsedMs, type Moment, type Timer } from '../kit/clock.ts'
import { outsideContexts } from '../kit/outside-contexts.ts'
import type { Hold } from '../lease/hold.ts'
import { validityMs } from '../lease/validity.ts'
import { type KeepObservation, UNOBSERVED } from '../lock-observer.ts'
import { mayBeKept } from '../servers/owner-id.ts'
import { type AcquireRequest, keepMsOf, type Waiter } from '../waiting/waiter.ts'
import { RESERVE, UNBROKEN_MS } from './hand-over-budget.ts'
import type { Kept, StaysAway } from './kept.ts'
import type { LocalLock } from './local-lock.ts'
import { holdAfter } from './passed-on.ts'
import { FreeRequest } from './release-request.ts'

/**
 * The largest reserve of tokens. A token is a server time in µs, so this reserve sets the counter at most about 1 ms
 * ahead of the clock. A client reserves so many tokens only after it has used all tokens of a smaller reserve.
 */
const MOST_RESERVED = 1_023

/**
 * A call needs no further check if the client sent a check within this many milliseconds before the call. So frequent
 * calls cause at most about 100 checks per second.
 */
const CHECK_EACH_MS = 10

/**
 * Keeps one lock for the next call of this client. After a release, the server still has the hold, and the watchdog
 * renews its lease. The next call gets the lock without a request, with the same owner id and the next reserved token.
 */
export class KeptLock implements Kept {
  staysAway: StaysAway = 'never'
  readonly #lock: LocalLock
  /** The hold that the next call continues: the kept hold, or the released hold until the kept hold is made. */
  #last: Hold | undefined
  /** The kept hold, which the watchdog renews. Made in the next turn, because often a call gets the lock earlier. */
  #hold: Hold | undefined
  #isTurnAwaited = false
  #observation: KeepObservation = UNOBSERVED
  /** The `keepMs` of the hold that an owner has now; 0 if the client must free the lock after this hold. */
  #keepMs = 0
  /** The owner id of the last hold, and when the request that acquired it was sent, on the monotonic clock. */
  #ownerId = ''
  #grantedAt = 0
  #isWanted = false
  #isStopped = false
  #reserve = RESERVE
  /** When the client frees the kept lock, on the monotonic clock. */
  #endsAt = 0
  #timer: Timer | undefined
  #firesAt = Infinity

  constructor(lock: LocalLock) {
    this.#lock = lock
  }

  get owner(): string | undefined {
    return this.#last?.id.ownerId
  }

  get keptMs(): number | undefined {
    const kept = this.#hold
    return kept && this.#lock.services.clock.monotonic() - kept.beganAt
  }

  reserveFor(request: AcquireRequest): number | undefined {
    return keepMsOf(request) > 0 ? this.#reserve : undefined
  }

  acquired({ id, beganAt }: Hold, request: AcquireRequest): void {
    if (this.#ownerId !== id.ownerId) this.#grantedAt = beganAt
    this.#ownerId = id.ownerId
    this.#keepMs = mayBeKept(id.ownerId) ? keepMsOf(request) : 0
  }

  keepAfter(hold: Hold): boolean {
    const now = this.#lock.services.clock.now()
    if (this.#mayKeep(hold, now)) {
      this.#last = hold
      this.#trackNextTurn()
      return true
    }
    this.staysAway = this.#isOverdue ? 'forOthers' : this.#isWanted ? 'briefly' : 'never'
    this.#updateReserve(hold)
    this.#isWanted = false
    this.#stopTimer()
    return false
  }

  /** True if waiters that send no messages, such as waiters of Redisson, have had no chance for too long. */
  get #isOverdue(): boolean {
    const longestMs = Math.max(this.#keepMs, UNBROKEN_MS)
    return this.#keepMs > 0 && this.#lock.handOverBudget.unbrokenMs >= longestMs
  }

  #mayKeep(hold: Hold, now: Moment): boolean {
    const { holds, waiters, isHandingOver, services } = this.#lock
    if (this.#keepMs === 0 || this.#isWanted || this.#isStopped || this.#isOverdue) return false
    // A client that missed messages since the grant may not know that another client wants the lock.
    if (this.#grantedAt < services.revocations.listeningSince) return false
    if (isHandingOver || !waiters.isEmpty || !holds.isEmpty) return false
    return hold.token < hold.lastToken && hold.untouched && isFresh(hold, now)
  }

  #trackNextTurn(): void {
    if (this.#isTurnAwaited) return
    this.#isTurnAwaited = true
    outsideContexts(() => {
      this.#lock.services.clock.nextTurn(() => {
        this.#isTurnAwaited = false
        if (this.#last !== undefined) this.#watched(this.#last)
      })
    })
  }

  /** Returns the kept hold, which the watchdog renews from now on. */
  #watched(last: Hold): Hold {
    if (this.#hold !== undefined) return this.#hold
    const { watchdog, clock, observer, waitReports } = this.#lock.services
    const now = clock.monotonic()
    const kept = holdAfter(last, last.owner, last.token, now, clock, this)
    kept.count = 0
    kept.renewMs = kept.leaseMs
    watchdog.track(kept)
    watchdog.watch(kept)
    // The watchdog thread must not renew a kept lock. With a blocked event loop, this client could not answer another
    // client that wants the lock.
    kept.standAlone()
    this.#last = kept
    this.#hold = kept
    this.#observation = observer.keeping(kept)
    waitReports.began(this.#lock)
    this.#freeIn(this.#keepMs, now)
    return kept
  }

  passTo({ request }: Waiter): Hold | undefined {
    const last = this.#last
    const { holds, services } = this.#lock
    const { clock } = services
    // While the connection is down, a failover may have replaced the server. The new server may not have the hold.
    if (services.server.whyDown !== undefined) return undefined
    if (last === undefined || !isFor(last, request)) return undefined
    const now = clock.now()
    if (!isFresh(last, now)) return undefined
    const token = last.token + 1
    const following = holdAfter(last, request.owner, token, now.monotonic, clock, holds)
    following.calledAt = now.monotonic - CHECK_EACH_MS
    this.#last = undefined
    if (this.#hold !== undefined) this.#finish(this.#hold, 'used')
    return following
  }

  async wanted(): Promise<boolean> {
    if (this.#last !== undefined) return this.free()
    this.#isWanted = true
    return false
  }

  async free(): Promise<boolean> {
    if (this.#last === undefined) return false
    const kept = this.#watched(this.#last)
    this.#finish(kept, 'freed')
    this.#stopTimer()
    this.#updateReserve(kept)
    // If the server does not confirm the release, the client repeats it in the background. No caller waits for it.
    return new FreeRequest(this.#lock, kept, UNOBSERVED).start().catch(() => false)
  }

  forced(owner: string): void {
    const last = this.#last
    if (last !== undefined && last.id.ownerId === owner) this.#watched(last).loseGone()
  }

  stopKeeping(): void {
    this.#isStopped = true
    this.#stopTimer()
    void this.free()
  }

  /** Called when the kept hold was lost. No owner has this hold, so no event reports the loss. */
  lost(kept: Hold, { reason }: LeaseLostError): void {
    if (this.#hold !== kept) return
    this.#finish(kept, 'lost')
    this.#stopTimer()
    if (reason === 'expired') this.#lock.abandonHold(kept)
    this.#lock.tasks.reportIfQuiet()
  }

  #finish(kept: Hold, outcome: Parameters<KeepObservation['ended']>[0]): void {
    this.#last = undefined
    this.#hold = undefined
    const { watchdog, waitReports } = this.#lock.services
    watchdog.untrack(kept)
    waitReports.waitEnded(this.#lock)
    kept.finish()
    this.#observation.ended(outcome)
  }

  /**
   * The next request reserves more tokens if this client has used all reserved tokens. It reserves the fewest tokens if
   * more than half of them were not used.
   */
  #updateReserve({ token, lastToken, calledAt }: Hold): void {
    if (this.#keepMs === 0) return
    if (token === lastToken && calledAt !== 0)
      this.#reserve = Math.min(2 * this.#reserve + 1, MOST_RESERVED)
    else if (lastToken - token > this.#reserve / 2) this.#reserve = RESERVE
  }

  #freeIn(ms: number, now: number): void {
    const { clock } = this.#lock.services
    this.#endsAt = now + ms
    if (this.#firesAt <= this.#endsAt) return
    clock.clear(this.#timer)
    this.#firesAt = this.#endsAt
    this.#timer = outsideContexts(() => clock.after(ms, () => this.#fire())).unref()
  }

  #fire(): void {
    this.#firesAt = Infinity
    if (this.#hold === undefined) return
    const now = this.#lock.services.clock.monotonic()
    const leftMs = this.#endsAt - now
    if (leftMs > 0) this.#freeIn(leftMs, now)
    else void this.free()
  }

  #stopTimer(): void {
    this.#lock.services.clock.clear(this.#timer)
    this.#firesAt = Infinity
  }
}

/** True if at least half of the lease is left. The watchdog renews earlier, so less is left only without answers. */
function isFresh({ proof, leaseMs }: Hold, now: Moment): boolean {
  return proof.validForMs - elapsedMs(proof.sentAt, now) >= validityMs(leaseMs) / 2
}

function isFor({ kind, leaseMs }: Hold, request: AcquireRequest): boolean {
  const isSame = request.kind === kind && request.leaseMs === leaseMs
  return isSame && request.lease?.watched === true && request.together === undefined
}
