import { type AcquireFact, holdTrace, isTraced } from '../diagnostics.ts'
import type { ClosedError, LeaseLostError } from '../errors.ts'
import type { HoldEvent } from '../events.ts'
import type { Moment } from '../kit/clock.ts'
import { Hold } from '../lease/hold.ts'
import type { Granted, SeenHold } from '../servers/answers.ts'
import { CallFailure } from '../servers/call-failure.ts'
import type { AcquireRequest, Waiter } from '../waiting/waiter.ts'
import { HoldSet } from './hold-set.ts'
import { type KindVerbs, renewalOf, toRenew } from './kind-verbs.ts'
import { LaterCallers } from './later-callers.ts'
import { traceHold } from './lock-facts.ts'
import type { Services } from './services.ts'

/** The lock that they are of. */
interface Lock {
  readonly name: string
  readonly rawName: string
  readonly services: Services
  remoteOf(hold: Hold): KindVerbs
  /** It is not in this client's hands any more. */
  lookAgain(): void
}

const LATE = 'the answer arrived only after the lease had run out'

/** The holds of one lock in this client, each from its grant to its end or loss. */
export class Holds extends HoldSet {
  readonly #lock: Lock
  readonly #services: Services
  #forcedFrom: SeenHold | undefined
  #laterCallers: LaterCallers | undefined

  constructor(lock: Lock) {
    super()
    this.#lock = lock
    this.#services = lock.services
  }

  /**
   * @param leaseMs that the grant stands for
   * @returns the hold that a grant makes; null when it came too late to be of use, or had come before
   */
  granted(
    waiter: Waiter,
    { token: lastToken, reserved = 0, onHeld }: Omit<Granted, 'kind'>,
    sentAt: Moment,
    leaseMs = waiter.request.leaseMs,
  ): Hold | null {
    const { request, wireOwner } = waiter
    if (wireOwner === undefined) return null
    this.#services.shortLeases.granted(this.#lock.name, request.kind, leaseMs)
    const hold = new Hold(
      {
        lockName: this.#lock.name,
        owner: request.owner,
        id: { key: this.#lock.rawName, wireOwner },
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
      // The name is the hold's now, with what was asked under it in vain.
      hold.inDoubtUntil(waiter.doubtUntilMs)
      waiter.doubtUntilMs = 0
      waiter.wireOwner = undefined
      waiter.retryBudget.answered(sentAt.monotonic)
      onHeld?.(() => toRenew(hold))
      return hold
    }
    // Asking again renews it; if that comes to nothing it is in doubt, and will be settled.
    hold.end()
    waiter.doubtUntilMs = Math.max(waiter.doubtUntilMs, this.#services.clock.monotonic())
    const late = new CallFailure('unknown', LATE, undefined, false, false)
    if (waiter.retryBudget.failed(late, sentAt.monotonic) === null) {
      waiter.reject(waiter.retryBudget.error('not acquired'))
    }
    return null
  }

  begin(hold: Hold): void {
    // Its time may have run out just now.
    if (!hold.live) return
    // Permits may be many, and end none of each other.
    if (!this.isEmpty && !hold.kind.isCounted) {
      for (const other of this.notBeside(hold)) {
        other.lose('gone', 'the server gave the lock to another owner')
      }
      // Of its owner a store has seen this token, and would refuse a lower one.
      const beside = this.beside(hold)
      if (beside?.kind.isShared) beside.token = Math.max(beside.token, hold.token)
    }
    this.add(hold)
    this.#services.watchdog.track(hold)
    if (hold.askedAt === 0) return
    this.#laterCallers ??= new LaterCallers(this, this.#services.clock)
    this.#laterCallers.look()
  }

  /** What is left of that hold: in milliseconds, or -2 when the lock is not held in its name. */
  async look(hold: Hold): Promise<number | CallFailure> {
    const { server, limits } = this.#services
    const asked = renewalOf(hold, server).renew([hold.id], 0, limits.commandTimeoutMs)
    return (await asked)[0] as number | CallFailure
  }

  /** This hold was ended by force; its grant may have been read and not begun yet. */
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
   * @param waitedMs how long it was waited for
   * @param acquire the call that has it, where somebody hears of that
   */
  tell(hold: Hold, waitedMs: number, acquire: AcquireFact | undefined): void {
    hold.told = true
    this.#services.revocations.began()
    if (isTraced(holdTrace)) traceHold(this.#lock, hold, acquire)
    // By hand: a spread that something is added to takes longer than the rest of the acquisition.
    const { lockName: name, id, token } = hold
    this.#services.emit('acquired', { name, owner: id.wireOwner, token, waitedMs })
    const from = this.#forcedFrom
    if (from !== undefined && isOf(hold, from)) this.forced(from)
  }

  /**
   * One more acquisition that the watchdog keeps, if it does. The first of them sets the limit.
   *
   * @param sentAt when it was asked for, on the monotonic clock
   */
  watch(hold: Hold, request: AcquireRequest, sentAt = hold.beganAt): void {
    if (!request.watched || !hold.live) return
    if (hold.renewMs === 0) hold.limit(request.maxHoldMs, sentAt)
    hold.watched.push(request.leaseMs)
    this.#renewTo(hold, Math.max(hold.renewMs, request.leaseMs))
  }

  /** @param leaseMs of the acquisition that the watchdog keeps no more */
  unwatch(hold: Hold, leaseMs: number): void {
    const { watched } = hold
    watched.splice(watched.lastIndexOf(leaseMs), 1)
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

  /** Ends the hold for its owner at once; Redis is to be told next. */
  end(hold: Hold, reason: ClosedError | undefined): void {
    this.#services.watchdog.untrack(hold)
    // Before whoever relies on it hears of its end.
    this.remove(hold)
    hold.end(reason)
    if (reason === undefined) hold.trace?.letGo()
    else hold.trace?.ended('closed')
  }

  /** @returns whether the lock was still held when Redis was told of its end */
  left(hold: Hold, wasHeld: boolean): boolean {
    if (!wasHeld) hold.loseGone()
    else if (hold.told) this.#services.emit('released', eventOf(hold))
    hold.trace?.ended('released')
    return wasHeld
  }

  /** A hold tells it of itself. */
  lost(hold: Hold, error: LeaseLostError): void {
    const isByTime = error.reason === 'expired'
    this.#services.watchdog.untrack(hold)
    const wasHeld = this.remove(hold)
    this.#services.emit('lost', { ...eventOf(hold), error })
    if (hold.trace !== undefined) {
      const stalledMs = isByTime ? this.#services.watchdog.stalledMs(hold) : undefined
      hold.trace.ended(error.reason, error, stalledMs)
    }
    if (!wasHeld) return
    if (isByTime) this.#lock.remoteOf(hold).ranOut?.(hold.id.wireOwner)
    this.#lock.lookAgain()
  }
}

/** Who it was passed on to in this client has the same name. */
function isOf({ id, lastToken }: Hold, { owner, token }: SeenHold): boolean {
  return id.wireOwner === owner && (token === null || token === lastToken)
}

/** What listeners hear of a hold. */
function eventOf(hold: Hold): HoldEvent {
  return { name: hold.lockName, owner: hold.id.wireOwner, token: hold.token }
}
