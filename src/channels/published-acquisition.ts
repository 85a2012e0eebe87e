import {
  type AcquireFact,
  type AcquireOutcome,
  type AcquirePath,
  acquireTrace,
  publishEnd,
} from '../diagnostics.ts'
import { ClosedError, RedisUnavailableError } from '../errors.ts'
import type { AcquisitionObservation, ObservedHold, ObservedWaiter } from '../lock-observer.ts'

/** Publishes one call to acquire a lock. */
export class PublishedAcquisition implements AcquisitionObservation {
  readonly fact: AcquireFact

  constructor(fact: AcquireFact) {
    this.fact = fact
  }

  start<T>(start: () => T): T {
    return acquireTrace.start.runStores(this.fact, () => {
      const result = start()
      acquireTrace.end.publish(this.fact)
      return result
    })
  }

  heldBy(holder: string): void {
    this.fact.holder = holder
  }

  resolved(
    waiter: ObservedWaiter,
    hold: ObservedHold | null,
    path: AcquirePath = waiter.announced ? 'raced' : 'free',
  ): void {
    const { fact } = this
    if (hold !== null) {
      fact.path = path
      fact.owner = hold.id.ownerId
      fact.token = hold.token
    }
    this.#publishEnd(waiter, hold === null ? 'timeout' : 'granted')
  }

  rejected(waiter: ObservedWaiter, error: unknown): void {
    this.fact.error = error
    this.#publishEnd(waiter, outcomeOf(error, waiter.request.signal))
  }

  #publishEnd(waiter: ObservedWaiter, outcome: AcquireOutcome): void {
    this.fact.outcome = outcome
    this.fact.waitedMs = waiter.waitedMs
    publishEnd(acquireTrace, this.fact)
  }
}

function outcomeOf(error: unknown, signal: AbortSignal | undefined): AcquireOutcome {
  if (signal?.aborted && error === signal.reason) return 'aborted'
  if (error instanceof ClosedError) return 'closed'
  return error instanceof RedisUnavailableError ? 'outage' : 'failed'
}
