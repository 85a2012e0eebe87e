import type { Moment } from '../lease/clock.ts'
import type {
  AcquireAnswer,
  HandOverAnswer,
  QueueAnswer,
  ReenterAnswer,
} from '../servers/answers.ts'
import { CallFailure } from '../servers/call-failure.ts'
import type { Waiter } from '../waiting/waiter.ts'
import type { LocalLock } from './local-lock.ts'

type Answer = AcquireAnswer | HandOverAnswer | QueueAnswer | ReenterAnswer

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
  waiter.wireOwner ??= waiter.request.owner.newName()
  return waiter.wireOwner
}

/**
 * Sends one request on behalf of a waiter. A failure that uses up its retry budget rejects it; what
 * stays unknown is released in the background, once the name is abandoned.
 *
 * @param callMs the time that the request may take, in milliseconds
 */
export async function ask<A extends Answer>(
  lock: LocalLock,
  waiter: Waiter,
  callMs: number,
  send: () => Promise<A>,
): Promise<Asked<A>> {
  const { clock, server } = lock.services
  waiter.asking = true
  const answeredOrNot = waiter.retryBudget.health.asks()
  const sentAt = clock.now()
  const lateMs = server.lateAtMostMs
  try {
    const grant = await send()
    // A grant is a proper answer where it comes in time to be of use.
    const unasked = grant.kind === 'held' && grant.unasked
    if (grant.kind !== 'granted' && !unasked) waiter.retryBudget.answered(sentAt.monotonic)
    if ((grant.kind === 'held' || grant.kind === 'yielded') && grant.split !== undefined) {
      // Some of several masters granted it, or may yet: the name is not used again.
      waiter.asking = false
      abandonName(lock, waiter)
    }
    return { grant, sentAt, pauseMs: 0, unknown: false }
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error
    const unknown = error.kind === 'unknown'
    // What is asked together is sent when all have asked.
    const latestMs = waiter.request.asksOnce ? performance.now() : sentAt.monotonic
    if (unknown) inDoubt(lock, waiter, latestMs + callMs, lateMs)
    // Given up with its waiter, before an answer could be expected: that says nothing of the server.
    const silentMs = performance.now() - sentAt.monotonic
    const saysNothing = unknown && waiter.settled && !waiter.retryBudget.isUnusual(silentMs)
    const pauseMs = saysNothing ? 0 : waiter.retryBudget.failed(error, sentAt.monotonic)
    if (pauseMs === null) waiter.reject(waiter.retryBudget.error('not acquired'))
    return { grant: null, sentAt, pauseMs: pauseMs ?? 0, unknown }
  } finally {
    answeredOrNot()
    waiter.asking = false
  }
}

/** The waiter has no more use for its name: what it was not answered may be granted, or be yet. */
export function abandonName(lock: LocalLock, waiter: Waiter): void {
  const { wireOwner, doubtUntilMs, request, queued } = waiter
  if (wireOwner === undefined) return
  waiter.wireOwner = undefined
  waiter.doubtUntilMs = 0
  waiter.queued = false
  if (doubtUntilMs > 0 || queued) {
    lock.abandon(wireOwner, doubtUntilMs, request.leaseMs, request.fair)
  }
}

/** @param lateMs how late a request could be as far as was known when this one was sent */
function inDoubt({ services }: LocalLock, waiter: Waiter, endsAtMs: number, lateMs: number): void {
  // More is known once it is connected, and the next server may be nearer.
  const untilMs = endsAtMs + Math.max(lateMs, services.server.lateAtMostMs)
  waiter.doubtUntilMs = Math.max(waiter.doubtUntilMs, untilMs)
}
