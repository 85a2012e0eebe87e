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

/** A proper answer; or null, and how long to pause before asking again. */
export interface Asked<A extends Answer> {
  readonly grant: A | null
  /** Before the request was sent: the moment that a lease counts from. */
  readonly sentAt: Moment
  readonly pauseMs: number
  /** Whether the request may have been granted all the same. */
  readonly unknown: boolean
}

/** A call outlives its waiter by this long: the waiter, not the call, says what its end means. */
const AFTER_THE_WAIT_MS = 20

/** How long the next request of the waiter may take, in milliseconds. */
export function callMsFor({ retryBudget, leftMs }: Waiter): number {
  return Math.min(retryBudget.callMs, leftMs + AFTER_THE_WAIT_MS)
}

/** The name that the waiter asks under: its own until it is granted, or has given up. */
export function nameOf(waiter: Waiter): string {
  const { owner, kind } = waiter.request
  waiter.wireOwner ??= owner.newName() + (kind.nameSuffix ?? '')
  return waiter.wireOwner
}

/**
 * One request on behalf of a waiter. A failure that uses up its retry budget rejects it; what stays
 * unknown is released in the background, once the name is abandoned.
 */
export class Asking<A extends Answer> extends OpenRequest implements Reply<A> {
  readonly #lock: LocalLock
  readonly #waiter: Waiter
  readonly #callMs: number
  /** How late a request could be as far as was known when this one was sent, in milliseconds. */
  readonly #lateMs: number
  readonly #then: (asked: Asked<A>) => void

  /**
   * To be made just before the request is sent.
   *
   * @param callMs the time that the request may take, in milliseconds
   * @param then called once, with what came of it
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
    // A grant is a proper answer where it comes in time to be of use.
    const unasked = grant.kind === 'held' && grant.unasked
    if (grant.kind !== 'granted' && !unasked) waiter.retryBudget.answered(sentAt.monotonic)
    waiter.asking = false
    if ((grant.kind === 'held' || grant.kind === 'yielded') && grant.split !== undefined) {
      // Some of several masters granted it, or may yet: the name is not used again.
      abandonName(this.#lock, waiter)
    }
    this.#settle({ grant, sentAt, pauseMs: 0, unknown: false })
  }

  failed(failure: CallFailure): void {
    const waiter = this.#waiter
    const { sentAt } = this
    const unknown = failure.kind === 'unknown'
    const now = this.#lock.services.clock.monotonic()
    // What is asked together is sent when all have asked.
    if (unknown) this.#inDoubt(waiter.request.asksOnce ? now : sentAt.monotonic)
    if (unknown || failure.kind === 'unsent') waiter.endIfTimeIsUp()
    // Given up with its waiter, before an answer could be expected: that says nothing of the server.
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
    // More is known once it is connected, and the next server may be nearer.
    const lateMs = Math.max(this.#lateMs, this.#lock.services.server.lateAtMostMs)
    const untilMs = latestMs + this.#callMs + lateMs
    this.#waiter.doubtUntilMs = Math.max(this.#waiter.doubtUntilMs, untilMs)
  }
}

/** Sends one request on behalf of a waiter, as {@link Asking} says. */
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

/** The waiter has no more use for its name: what it was not answered may be granted, or be yet. */
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
