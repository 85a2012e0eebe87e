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
import type { Waiter } from '../waiting/waiter.ts'
import type { LocalLock } from './local-lock.ts'

export type Answer = AcquireAnswer | HandOverAnswer | QueueAnswer | ReenterAnswer

/**
 * The answer of the server. If no answer arrived, `grant` is null, and the next attempt follows
 * after `pauseMs`.
 */
export interface Asked<A extends Answer> {
  readonly grant: A | null
  /** The moment just before the request was sent. The lease counts from this moment. */
  readonly sentAt: Moment
  readonly pauseMs: number
  /** True if no answer arrived, and the server may have granted the request. */
  readonly unknown: boolean
}

/**
 * The time limit of a request is this much later than the wait timeout of its waiter, in
 * milliseconds. So the waiter ends first, and the error names the wait timeout.
 */
const AFTER_THE_WAIT_MS = 20

/** The time limit of the waiter's next request, in milliseconds. */
export function callMsFor({ retryBudget, leftMs }: Waiter): number {
  return Math.min(retryBudget.callMs, leftMs + AFTER_THE_WAIT_MS)
}

/**
 * Returns the owner id for the waiter's requests. The waiter keeps this id until a grant uses it or
 * the waiter abandons it.
 */
export function nameOf(waiter: Waiter): string {
  const { owner, kind } = waiter.request
  waiter.wireOwner ??= owner.newName() + (kind.nameSuffix ?? '')
  return waiter.wireOwner
}

/**
 * One request of a waiter. If a failure uses up the retry budget, the waiter is rejected. If the
 * outcome is unknown, the client releases the owner id in the background when the waiter abandons
 * it.
 */
export class Asking<A extends Answer> extends OpenRequest implements Reply<A> {
  readonly #lock: LocalLock
  readonly #waiter: Waiter
  readonly #callMs: number
  /**
   * How long after its time limit this request could still run, in milliseconds, as known at the
   * sending.
   */
  readonly #lateMs: number
  readonly #then: (asked: Asked<A>) => void

  /**
   * Construct it immediately before the request is sent.
   *
   * @param callMs the time that the request may take, in milliseconds
   * @param then called once, with the result
   */
  constructor(lock: LocalLock, waiter: Waiter, callMs: number, then: (asked: Asked<A>) => void) {
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
    // A grant is counted as an answer later, by `Holds.granted`, and only if its lease is still
    // valid then.
    const unasked = grant.kind === 'held' && grant.unasked
    if (grant.kind !== 'granted' && !unasked) waiter.retryBudget.answered(sentAt.monotonic)
    waiter.asking = false
    if ((grant.kind === 'held' || grant.kind === 'yielded') && grant.split !== undefined) {
      // Some masters granted the lock, or may still grant it. So the owner id is abandoned, and the
      // next request uses a new one.
      abandonName(this.#lock, waiter)
    }
    this.#settle({ grant, sentAt, pauseMs: 0, unknown: false })
  }

  failed(failure: CallFailure): void {
    const waiter = this.#waiter
    const { sentAt } = this
    const unknown = failure.kind === 'unknown'
    const now = this.#lock.services.clock.monotonic()
    // A joint request is sent only when all its locks have called. It may be sent as late as now,
    // so this later time counts.
    if (unknown) this.#inDoubt(waiter.request.asksOnce ? now : sentAt.monotonic)
    if (unknown || failure.kind === 'unsent') waiter.endIfTimeIsUp()
    // The waiter gave up before answers usually arrive, so the failure says nothing about the
    // server.
    const silentMs = now - sentAt.monotonic
    const saysNothing = unknown && waiter.settled && !waiter.retryBudget.isUnusual(silentMs)
    const pauseMs = saysNothing ? 0 : waiter.retryBudget.failed(failure, sentAt.monotonic)
    if (pauseMs === null) waiter.reject(waiter.retryBudget.error('not acquired'))
    waiter.asking = false
    this.#settle({ grant: null, sentAt, pauseMs: pauseMs ?? 0, unknown })
  }

  #settle(asked: Asked<A>): void {
    this.close()
    this.#then(asked)
  }

  #inDoubt(latestMs: number): void {
    // The longer of the two delays counts. Since the request was sent, the delay may have become
    // known, or the connection may have changed to a nearer server.
    const lateMs = Math.max(this.#lateMs, this.#lock.services.server.lateAtMostMs)
    const untilMs = latestMs + this.#callMs + lateMs
    this.#waiter.doubtUntilMs = Math.max(this.#waiter.doubtUntilMs, untilMs)
  }
}

/** Sends one request for a waiter, as {@link Asking} describes. */
export function ask<A extends Answer>(
  lock: LocalLock,
  waiter: Waiter,
  callMs: number,
  send: (reply: Reply<A>) => void,
): Promise<Asked<A>> {
  return new Promise((resolve) => {
    send(new Asking(lock, waiter, callMs, resolve))
  })
}

/**
 * Abandons the waiter's owner id. A request without an answer may have been granted, or may still
 * be granted, so a background release follows.
 */
export function abandonName(lock: LocalLock, waiter: Waiter): void {
  const { wireOwner, doubtUntilMs, request, queued } = waiter
  if (wireOwner === undefined) return
  waiter.wireOwner = undefined
  waiter.doubtUntilMs = 0
  waiter.queued = false
  if (doubtUntilMs > 0 || queued) {
    lock.abandon(request, wireOwner, doubtUntilMs, request.leaseMs)
  }
}
