import type { Moment } from '../kit/clock.ts'
import type {
  AcquireAnswer,
  HandOverAnswer,
  QueueAnswer,
  ReenterAnswer,
} from '../servers/answers.ts'
import type { CallFailure } from '../servers/call-failure.ts'
import type { Reply } from '../servers/reply.ts'
import { OpenRequest } from '../waiting/server-health.ts'
import { keepMsOf, type Waiter } from '../waiting/waiter.ts'
import { kindOf } from './kind-verbs.ts'
import type { LocalLock } from './local-lock.ts'

export type WaiterAnswer = AcquireAnswer | HandOverAnswer | QueueAnswer | ReenterAnswer

/** The result of one request: the answer of the server, or no answer. */
export interface RequestOutcome<A extends WaiterAnswer> {
  /**
   * The answer of the server. Null if no valid answer arrived, or if replicas did not confirm the
   * grant.
   */
  readonly grant: A | null
  /** The moment just before the request was sent. The lease counts from this moment. */
  readonly sentAt: Moment
  /** The pause before the next attempt, in milliseconds. 0 if there is a `grant`. */
  readonly pauseMs: number
  /** True if `grant` is null, although the server may have executed the request. */
  readonly unknown: boolean
}

/**
 * A request of a waiter times out at most this many milliseconds after the wait timeout. The wait
 * timeout comes first, so the error names the wait timeout.
 */
const AFTER_THE_WAIT_MS = 20

/** Returns the time limit of the waiter's next request, in milliseconds. */
export function callMsFor({ retryBudget, leftMs }: Waiter): number {
  return Math.min(retryBudget.callMs, leftMs + AFTER_THE_WAIT_MS)
}

/**
 * Returns the owner id for the waiter's requests. All requests have the same id until a grant uses
 * the id or the waiter abandons the id.
 */
export function ownerIdOf(waiter: Waiter): string {
  if (waiter.ownerId === undefined) {
    const { request } = waiter
    const { owner } = request
    const id = keepMsOf(request) > 0 ? owner.newKeepingId() : owner.newOwnerId()
    waiter.ownerId = kindOf(request).ownerId?.(id) ?? id
  }
  return waiter.ownerId
}

/**
 * One request of a waiter. If a failure uses up the retry budget, the request rejects the waiter.
 * If the outcome stays unknown, `abandonId` later releases the owner id in the background.
 */
export class WaiterRequest<A extends WaiterAnswer> extends OpenRequest implements Reply<A> {
  readonly #lock: LocalLock
  readonly #waiter: Waiter
  readonly #callMs: number
  /**
   * How long this request may still run on the server after its time limit, in milliseconds. Read
   * before the request was sent.
   */
  readonly #lateMs: number
  readonly #then: (asked: RequestOutcome<A>) => void

  /**
   * Records the sending time, so the caller must send the request immediately after the
   * construction.
   *
   * @param callMs the time limit of the request, in milliseconds
   * @param then called once, with the result
   */
  constructor(
    lock: LocalLock,
    waiter: Waiter,
    callMs: number,
    then: (asked: RequestOutcome<A>) => void,
  ) {
    super(lock.services.clock.now())
    this.#lock = lock
    this.#waiter = waiter
    this.#callMs = callMs
    this.#lateMs = lock.services.server.lateAtMostMs
    this.#then = then
    waiter.asking = true
    waiter.retryBudget.health.sent(this)
  }

  answered(grant: A): void {
    const waiter = this.#waiter
    const { sentAt } = this
    // A grant does not count as an answer here, because its lease may have expired already. The
    // code that uses the grant checks the lease, and then counts the answer.
    const unasked = grant.kind === 'held' && grant.unasked
    if (grant.kind !== 'granted' && !unasked) waiter.retryBudget.answered(sentAt.monotonic)
    waiter.asking = false
    if ((grant.kind === 'held' || grant.kind === 'yielded') && grant.split !== undefined) {
      // Some masters may have granted the lock to this owner id, or may still grant it. So the
      // waiter abandons the id, and its next request uses a new id.
      abandonId(this.#lock, waiter)
    }
    this.#finish({ grant, sentAt, pauseMs: 0, unknown: false })
  }

  failed(failure: CallFailure): void {
    const waiter = this.#waiter
    const { sentAt } = this
    const unknown = failure.kind === 'unknown'
    const now = this.#lock.services.clock.monotonic()
    // A joint request waits for all its locks before it is sent. So the latest possible sending
    // time is now, and not `sentAt`.
    if (unknown) this.#inDoubt(waiter.request.isSingleAttempt ? now : sentAt.monotonic)
    if (unknown || failure.kind === 'unsent') waiter.endIfTimeIsUp()
    // If the waiter gave up before an answer usually arrives, the missing answer shows no problem
    // of the server.
    const silentMs = now - sentAt.monotonic
    const saysNothing = unknown && waiter.settled && !waiter.retryBudget.isUnusual(silentMs)
    const pauseMs = saysNothing ? 0 : waiter.retryBudget.failed(failure, sentAt.monotonic)
    if (pauseMs === null) waiter.reject(waiter.retryBudget.error('not acquired'))
    waiter.asking = false
    this.#finish({ grant: null, sentAt, pauseMs: pauseMs ?? 0, unknown })
  }

  #finish(asked: RequestOutcome<A>): void {
    this.finish()
    this.#then(asked)
  }

  #inDoubt(latestMs: number): void {
    // The known delay may have changed since the request was sent, for example if the connection
    // changed to a nearer server. So the longer of the two delays counts.
    const lateMs = Math.max(this.#lateMs, this.#lock.services.server.lateAtMostMs)
    const untilMs = latestMs + this.#callMs + lateMs
    this.#waiter.doubtUntilMs = Math.max(this.#waiter.doubtUntilMs, untilMs)
  }
}

/**
 * Abandons the waiter's owner id. A late request with this id may still be granted, or the server's
 * queue may contain the id. If so, the client releases the id in the background.
 */
export function abandonId(lock: LocalLock, waiter: Waiter): void {
  const { ownerId, doubtUntilMs, request, queued } = waiter
  if (ownerId === undefined) return
  waiter.ownerId = undefined
  waiter.doubtUntilMs = 0
  waiter.queued = false
  if (doubtUntilMs > 0 || queued) {
    lock.abandon(request, ownerId, doubtUntilMs, request.leaseMs)
  }
}
