import {
  type AcquireFact,
  type AcquireOutcome,
  type AcquirePath,
  acquireTrace,
  tellEnd,
} from '../diagnostics.ts'
import { ClosedError, RedisUnavailableError } from '../errors.ts'

interface Hold {
  readonly id: { readonly wireOwner: string }
  readonly token: number
}

interface Waiter {
  readonly request: { readonly signal: AbortSignal | undefined }
  readonly announced: boolean
  readonly waitedMs: number
}

/**
 * Publishes the result of an acquisition.
 *
 * @param hold null if the lock was not acquired in time
 * @param path how the lock was acquired
 */
export function tellResult(
  fact: AcquireFact,
  waiter: Waiter,
  hold: Hold | null,
  path: AcquirePath = waiter.announced ? 'raced' : 'free',
): void {
  if (hold !== null) {
    fact.path = path
    fact.owner = hold.id.wireOwner
    fact.token = hold.token
  }
  tell(fact, waiter, hold === null ? 'timeout' : 'granted')
}

export function tellFailure(fact: AcquireFact, waiter: Waiter, error: unknown): void {
  fact.error = error
  tell(fact, waiter, outcomeOf(error, waiter.request.signal))
}

function outcomeOf(error: unknown, signal: AbortSignal | undefined): AcquireOutcome {
  if (signal?.aborted && error === signal.reason) return 'aborted'
  if (error instanceof ClosedError) return 'closed'
  return error instanceof RedisUnavailableError ? 'outage' : 'failed'
}

function tell(fact: AcquireFact, waiter: Waiter, outcome: AcquireOutcome): void {
  fact.outcome = outcome
  fact.waitedMs = waiter.waitedMs
  tellEnd(acquireTrace, fact)
}
