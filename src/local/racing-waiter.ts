import type { AcquirePath } from '../diagnostics.ts'
import type { Hold } from '../lease/hold.ts'
import type { AcquireAnswer } from '../servers/answers.ts'
import type { Confirm } from '../servers/durability.ts'
import {
  type AcquireRequest,
  type AcquireSender,
  type LeaseRequest,
  Waiter,
} from '../waiting/waiter.ts'
import { askKeeper } from './ask-keeper.ts'
import { whenConfirmed } from './confirm.ts'
import { RESERVE } from './hand-over-budget.ts'
import { kindOf, renewalOf } from './kind-verbs.ts'
import type { LocalLock } from './local-lock.ts'
import { reenter, startOthers } from './reenter.ts'
import { releaseOne } from './release.ts'
import { abandonId, callMsFor, ownerIdOf, type RequestOutcome, WaiterRequest } from './request.ts'

/** A waiter with `isSingleAttempt` repeats its request at most this many times after split votes. */
const MOST_SPLITS = 3

/** A waiter for a lock of this client. Its kind decides when it sends requests. `T` is what the caller receives. */
export abstract class LocalWaiter<T, R extends AcquireRequest = LeaseRequest> extends Waiter<T> {
  declare readonly request: R
  readonly lock: LocalLock
  /** The stack trace of the user's call; undefined if no warning needs the stack trace. */
  declare calledFrom?: Error

  constructor(lock: LocalLock, request: R) {
    super(request, lock.newSharedBudget(request), lock)
    this.lock = lock
    const { heldWatch } = lock.services
    if (heldWatch !== undefined) this.calledFrom = request.calledFrom ?? heldWatch.trace()
  }

  accept(hold: Hold, path?: AcquirePath): void {
    const { lock, request } = this
    const { holds, waiters } = lock
    holds.startHold(hold)
    lock.handOverBudget.acquired()
    if (this.settled) {
      lock.tasks.run(releaseOne(lock, hold, 0))
      return
    }
    holds.watch(hold, request)
    lock.kept?.acquired(hold, request)
    // The waiter settles before the client emits events. So the caller receives the lease even if a listener aborts the
    // call.
    this.resolve(hold, path)
    holds.report(hold, this.waitedMs, this.observation)
    // A listener may have released the hold.
    if (!hold.live) return
    if (!waiters.isEmpty && waiters.has(request.owner)) lock.queuedWaiters?.wake(request.owner)
    startOthers(lock, hold, this)
  }

  /** Rejects after an unexpected error, and emits it. Otherwise the caller and `close()` would wait forever. */
  protected stepFailed(error: unknown): void {
    this.reject(error)
    this.lock.taskFailed(error as Error)
    this.lock.tasks.finished()
  }

  /** Waits until replicas have confirmed a grant; undefined if grants need no confirmation. */
  get confirm(): Confirm | undefined {
    return renewalOf(this.request, this.lock.services.server).confirm
  }
}

/** Waits in the wait queue of its client. Usually only the first waiter sends requests. */
export abstract class RacingWaiter<T, R extends AcquireRequest = LeaseRequest> extends LocalWaiter<
  T,
  R
> {
  #splits = 0
  /** When the last refusal arrived, on the monotonic clock; -Infinity before the first refusal. */
  protected refusedAt = -Infinity

  start(): void {
    const { lock } = this
    if (this.isSingleAttempt) {
      this.contend()
      return
    }
    const isBeside = lock.holds.beside(this.request) !== undefined
    const { first, firstBeside } = lock.waiters
    const isBehind = (isBeside ? firstBeside : first) !== undefined
    if (isBehind || lock.excludes(this.request)) lock.announce(this)
    // A listener of the event may have aborted the call.
    if (this.settled) return
    if (isBeside) lock.waiters.queueBeside(this)
    else lock.waiters.queue(this)
    if (this.list?.first === this) this.contend()
  }

  contend(): void {
    this.contending = true
    this.lock.tasks.started()
    this.woken()
  }

  /**
   * Takes the next step: sends a request, or waits. Called again after each step, until the waiter
   * holds the lock or has settled.
   */
  woken(): void {
    const { lock, request, wakeEvent } = this
    try {
      wakeEvent.reset()
      this.waitsHere = false
      const own = this.settled ? undefined : lock.holds.of(request.owner, request.kind)
      if (this.settled) {
        this.#cleanUp()
      } else if (own !== undefined) {
        reenter(lock, own, this)
        lock.tasks.finished()
      } else if (this.isSingleAttempt) {
        this.#sendRequest()
      } else if (this.keptOutMs > 0) {
        this.#sleepHere(this.keptOutMs)
      } else if (lock.handOverBudget.awayMs > 0) {
        wakeEvent.onWakeUp(this, lock.handOverBudget.awayMs)
      } else if (lock.handOverBudget.letsOthersAsk) {
        lock.handOverBudget
          .stepBack()
          .then(() => this.#sendAfterPause())
          .catch((error) => this.stepFailed(error))
      } else {
        this.#sendRequest()
      }
    } catch (error) {
      this.stepFailed(error)
    }
  }

  #sendAfterPause(): void {
    const { lock, request } = this
    const own = lock.holds.of(request.owner, request.kind)
    if (this.settled || own !== undefined || lock.excludes(request)) this.woken()
    else this.#sendRequest()
  }

  /**
   * For how long holds of this client prevent the next request, in milliseconds. 0 if they do not, Infinity until a
   * hold ends.
   */
  protected get keptOutMs(): number {
    return this.lock.excludes(this.request) ? Infinity : 0
  }

  /** Sends the next request as a part of another request. Does nothing if the waiter is awake. */
  sendWith(sender: AcquireSender, callMs: number): void {
    const { wakeEvent, waitsHere, settled, retryBudget } = this
    if (!wakeEvent.isAwaited || waitsHere || settled || retryBudget.isUsedUp) return
    wakeEvent.cancel()
    this.#send(sender, callMs)
  }

  #sendRequest(): void {
    const { lock, request, retryBudget } = this
    if (!retryBudget.isUsedUp) {
      this.#send(request.together ?? lock.remoteOf(request), callMsFor(this))
      return
    }
    this.reject(retryBudget.error('not acquired'))
    this.#cleanUp()
  }

  #send(sender: AcquireSender, callMs: number): void {
    const { lock, request } = this
    const waits = !this.isSingleAttempt
    const attempt = {
      owner: ownerIdOf(this),
      leaseMs: request.leaseMs,
      reserve: lock.kept?.reserveFor(request) ?? (lock.waiters.hasSeveral ? RESERVE : 0),
      callMs,
      beside: lock.holds.beside(request)?.id.ownerId,
      waits,
      leftMs: this.leftMs,
      isLast: lock.waiters.isLastOfKind(this),
    }
    this.queued ||= waits && kindOf(request).announcesWaits === true
    const handle = (asked: RequestOutcome<AcquireAnswer>) => this.#handleAnswer(asked)
    const then = whenConfirmed(lock, this, this.confirm, handle)
    sender.acquire(attempt, new WaiterRequest(lock, this, callMs, then))
  }

  #handleAnswer({ grant, sentAt, pauseMs }: RequestOutcome<AcquireAnswer>): void {
    const { lock, wakeEvent, request } = this
    try {
      if (grant?.kind === 'granted') {
        const hold = lock.holds.newHold(this, grant, sentAt)
        if (hold === null) this.woken()
        else {
          this.accept(hold)
          lock.tasks.finished()
        }
        return
      }
      if (grant !== null) {
        this.saw(grant)
        lock.sight = this.sight
        this.refusedAt = lock.services.clock.monotonic()
      }
      const splitMs = grant?.split?.pauseMs
      if (grant?.kind === 'held' && grant.never !== undefined) this.reject(grant.never)
      if (this.settled) {
        this.#cleanUp()
      } else if (grant === null) {
        wakeEvent.onWakeUp(this, pauseMs)
      } else if (!this.isSingleAttempt) {
        lock.announce(this)
        const listenMs = lock.releases.listen(lock.remoteOf(request), grant.ttlMs)
        // Several shared waiters may ask, but only the first waiter of a line repeats its request.
        if (this.list?.first !== this) this.#sleepHere()
        // After split votes, the waiter does not wait for a message. The client that gets the majority may not know
        // this waiter, and then sends no message.
        else if (splitMs === undefined) wakeEvent.onWakeUp(this, listenMs)
        else lock.services.clock.after(splitMs, () => this.woken())
      } else if (splitMs !== undefined && this.#splits < MOST_SPLITS) {
        this.#splits += 1
        lock.services.clock.after(splitMs, () => this.woken())
      } else if (!askKeeper(lock, this, grant.holder)) {
        // If the owner has acquired the lock meanwhile, the waiter re-enters the hold.
        if (lock.holds.of(request.owner, request.kind) === undefined) this.resolve(null)
        this.woken()
      }
    } catch (error) {
      this.stepFailed(error)
    }
  }

  #sleepHere(ms?: number): void {
    this.waitsHere = true
    this.wakeEvent.onWakeUp(this, ms)
  }

  #cleanUp(): void {
    const { lock, request } = this
    // A waiter without an owner id usually settled before it sent a request. `stopWaiting` then gives up the client's
    // place in the server's queue, if no other waiter needs the place.
    if (this.ownerId === undefined) lock.remoteOf(request).stopWaiting?.()
    // While a hand-over to this waiter is in flight, the owner id is still in use.
    else if (!this.asking) abandonId(lock, this)
    lock.tasks.finished()
  }
}
