import {
  type AcquireFact,
  type AcquireOutcome,
  type AcquirePath,
  acquireTrace,
  publishEnd,
} from '../diagnostics.ts'
import { ClosedError, RedisUnavailableError } from '../errors.ts'

interface GrantedHold {
  readonly id: { readonly wireOwner: string }
  readonly token: number
}

interface TracedWaiter {
  readonly request: { readonly signal: AbortSignal | undefined }
  readonly announced: boolean
  readonly waitedMs: number
}

/**
 * Publishes the result of a call to acquire.
 *
 * @param hold null if the lock was not acquired in time
 */
export function reportResult(
  fact: AcquireFact,
  waiter: TracedWaiter,
  hold: GrantedHold | null,
  path: AcquirePath = waiter.announced ? 'raced' : 'free',
): void {
  if (hold !== null) {
    fact.path = path
    fact.owner = hold.id.wireOwner
    fact.token = hold.token
  }
  report(fact, waiter, hold === null ? 'timeout' : 'granted')
}

export function reportFailure(fact: AcquireFact, waiter: TracedWaiter, error: unknown): void {
  fact.error = error
  report(fact, waiter, outcomeOf(error, waiter.request.signal))
}

function outcomeOf(error: unknown, signal: AbortSignal | undefined): AcquireOutcome {
  if (signal?.aborted && error === signal.reason) return 'aborted'
  if (error instanceof ClosedError) return 'closed'
  return error instanceof RedisUnavailableError ? 'outage' : 'failed'
}

function report(fact: AcquireFact, waiter: TracedWaiter, outcome: AcquireOutcome): void {
  fact.outcome = outcome
  fact.waitedMs = waiter.waitedMs
  publishEnd(acquireTrace, fact)
}
