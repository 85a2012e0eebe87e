import type { Moment } from '../../kit/clock.ts'
import type { Hold } from '../../lease/hold.ts'
import type { Lease } from '../../lease/lease.ts'
import { whenConfirmed } from '../../local/confirm.ts'
import { newLease } from '../../local/local-lease.ts'
import type { LocalLock } from '../../local/local-lock.ts'
import { LocalWaiter } from '../../local/racing-waiter.ts'
import { reenter } from '../../local/reenter.ts'
import {
  abandonId,
  callMsFor,
  ownerIdOf,
  type RequestOutcome,
  WaiterRequest,
} from '../../local/request.ts'
import type { Granted, QueueAnswer, Queued } from '../../servers/answers.ts'
import { untilCheckMs } from '../../waiting/release-listener.ts'
import type { LeaseRequest } from '../../waiting/waiter.ts'
import { confirmGrant } from './confirm-grant.ts'
import { FairQueue } from './fair-queue.ts'
import type { FairVerbs } from './fair-verbs.ts'
import type { Heartbeat } from './heartbeat.ts'
import { Place } from './place.ts'

/**
 * A waiter for a fair lock. Unless the waiter asks only once, it has a place in the queue on the
 * server. After its request, the waiter usually sleeps until a message grants the lock, or until it
 * must send another request.
 */
export class FairWaiter extends LocalWaiter<Lease> {
  readonly #heartbeat: Heartbeat
  #queue!: FairQueue
  #place!: Place

  constructor(lock: LocalLock, request: LeaseRequest, heartbeat: Heartbeat) {
    super(lock, request)
    this.#heartbeat = heartbeat
  }

  start(): void {
    this.contend()
  }

  contend(): void {
    const { lock } = this
    const verbs = lock.remoteOf(this.request) as FairVerbs
    lock.queuedWaiters ??= new FairQueue(this.#heartbeat, lock, verbs.inTurn)
    this.#queue = lock.queuedWaiters as FairQueue
    verbs.queue = this.#queue
    this.#place = new Place(this, ownerIdOf(this))
    if (!this.isSingleAttempt) this.#queue.places.add(this.#place)
    lock.tasks.started()
    this.woken()
  }

  /**
   * Takes the next step: re-enters the hold of its owner, uses a grant, sends a request, or waits.
   * Called at each wake-up. After the waiter has settled, the last call cleans up.
   */
  woken(): void {
    const { lock } = this
    try {
      if (this.settled) {
        this.#cleanUp()
        return
      }
      this.wakeEvent.reset()
      const own = this.#ownHold
      if (own !== undefined) {
        this.#queue.remove(this.#place)
        reenter(lock, own, this)
        lock.tasks.finished()
      } else if (!this.#useGrant()) {
        this.#sendRequest()
      }
    } catch (error) {
      this.#leaveAfter(error)
    }
  }

  get #ownHold(): Hold | undefined {
    return this.lock.holds.of(this.request.owner, this.request.kind)
  }

  /**
   * Uses a reported grant without waiting for another answer, if that is safe. May send a request
   * that confirms the grant.
   *
   * @returns true if the waiter has the lock
   */
  #useGrant(): boolean {
    const { lock } = this
    const { clock, watchdog } = lock.services
    const { claimMs } = this.#place
    const claim = this.#place.usableGrant(clock)
    // A client with a watchdog thread may block its event loop for longer than the claim window. A
    // confirmation by replicas also takes time. In both cases a request acquires the whole lease.
    if (claim === null || watchdog.hasStandIn || this.confirm !== undefined) return false
    const reserved = this.#queue.run.start(claim, this.request)
    const hold = this.#newHold({ token: claim.token, reserved }, claim.sentAt, claimMs)
    if (hold === null) return false
    hold.beganAt = clock.monotonic()
    // The client sends the confirmation before the caller continues, because the caller may block
    // the event loop for longer than the claim window.
    if (!claim.isWhole) {
      confirmGrant(lock, this.#queue, hold, this.request.leaseMs, claimMs / 3)
    }
    this.#acceptHold(hold)
    return true
  }

  #sendRequest(): void {
    const { lock, request, retryBudget, wakeEvent } = this
    const place = this.#place
    if (retryBudget.isUsedUp) this.reject(retryBudget.error('not acquired'))
    if (this.settled) {
      this.#cleanUp()
      return
    }
    const waits = !this.isSingleAttempt
    if (waits && !this.#queue.admits(place)) {
      wakeEvent.onWakeUp(this)
      return
    }
    this.queued ||= waits
    const callMs = callMsFor(this)
    const attempt = {
      owner: ownerIdOf(this),
      leaseMs: request.leaseMs,
      ticket: waits ? place.ticket : null,
      listens: () => this.#heartbeat.listens,
      callMs,
    }
    const handle = (asked: RequestOutcome<QueueAnswer>) => this.#handleAnswer(asked)
    const then = whenConfirmed(lock, this, this.confirm, handle)
    this.#queue.inTurn.acquire(attempt, new WaiterRequest(lock, this, callMs, then))
  }

  #handleAnswer({ grant, sentAt, pauseMs }: RequestOutcome<QueueAnswer>): void {
    const { request, wakeEvent } = this
    try {
      if (grant === null) {
        wakeEvent.onWakeUp(this, pauseMs)
        return
      }
      this.#queue.answered(this.#place)
      if (grant.kind === 'granted') {
        const hold = this.#newHold(grant, sentAt, request.leaseMs)
        if (hold === null) this.woken()
        else this.#acceptHold(hold)
        return
      }
      this.saw(grant)
      if (grant.kind === 'queued') {
        this.#isQueued(grant, sentAt)
      } else {
        // If the owner acquired the lock during the request, the waiter re-enters the hold.
        if (this.#ownHold === undefined) this.resolve(null)
        this.woken()
      }
    } catch (error) {
      this.#leaveAfter(error)
    }
  }

  #isQueued(answer: Queued, sentAt: Moment): void {
    const { lock, wakeEvent } = this
    const place = this.#place
    this.#heartbeat.start()
    place.ticket = answer.ticket
    place.queued(answer, sentAt)
    lock.announce(this)
    // If a grant arrived or the wait ended during the request, the wake event is already set. Then
    // the next step follows at once.
    wakeEvent.onWakeUp(this, answer.ttlMs === Infinity ? untilCheckMs() : undefined)
  }

  /** @returns the new hold; null if the grant cannot be used, usually because its lease has ended */
  #newHold(
    grant: Pick<Granted, 'token' | 'reserved'>,
    sentAt: Moment,
    leaseMs: number,
  ): Hold | null {
    const hold = this.lock.holds.newHold(this, grant, sentAt, leaseMs)
    if (hold !== null) this.#queue.remove(this.#place)
    return hold
  }

  resultOf(hold: Hold): Lease {
    return newLease(this, hold)
  }

  #acceptHold(hold: Hold): void {
    this.accept(hold, this.#place.path)
    this.lock.tasks.finished()
  }

  #cleanUp(): void {
    this.#queue.remove(this.#place)
    if (!this.asking) abandonId(this.lock, this)
    this.lock.tasks.finished()
  }

  #leaveAfter(error: unknown): void {
    this.#queue.remove(this.#place)
    this.stepFailed(error)
  }
}
