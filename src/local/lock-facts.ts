import {
  type AcquireFact,
  acquireTrace,
  type FactSource,
  type HoldFact,
  type LockFact,
  publishEnd,
  type ReleaseFact,
  releaseTrace,
} from '../diagnostics.ts'
import { LeaseLostError } from '../errors.ts'
import type { Clock } from '../kit/clock.ts'
import type { Hold } from '../lease/hold.ts'
import { HoldTrace } from '../lease/hold-trace.ts'
import { NO_LEASE_MS } from '../lease/validity.ts'

interface FactLock {
  readonly name: string
  readonly services: { readonly source: FactSource; readonly clock: Clock }
}

interface TracedRequest extends Pick<Hold, 'kind' | 'leaseMs'> {
  readonly waitMs: number
  readonly asksOnce: boolean
  fact?: AcquireFact
}

type Writable<F> = { -readonly [K in keyof F]: F[K] }

/**
 * Creates a fact with the fields that all facts about locks have. Spreads would take longer than
 * all other steps of the report.
 */
function factOf<F extends LockFact>(
  { name, services }: FactLock,
  { kind }: Pick<Hold, 'kind'>,
): Writable<F> {
  const { client, label, notes } = services.source
  return { client, label, name, kind: kind.name, notes } as Writable<F>
}

/**
 * Publishes the start of an acquisition. The waiter publishes the end when it settles.
 *
 * @param start starts the acquisition, and returns its result
 */
export function traceAcquire<T>(lock: FactLock, request: TracedRequest, start: () => T): T {
  const { leaseMs, waitMs, asksOnce } = request
  const fact = factOf<AcquireFact>(lock, request)
  fact.waitMs = asksOnce ? 0 : waitMs
  fact.leaseMs = leaseMs === NO_LEASE_MS ? Infinity : leaseMs
  request.fact = fact
  return acquireTrace.start.runStores(fact, () => {
    const result = start()
    acquireTrace.end.publish(fact)
    return result
  })
}

/** Publishes the beginning of a hold. */
export function traceHold(lock: FactLock, hold: Hold, acquire: AcquireFact | undefined): void {
  const fact = factOf<HoldFact>(lock, hold)
  fact.owner = hold.id.wireOwner
  fact.token = hold.token
  fact.leaseMs = hold.leaseMs
  fact.limitMs = hold.renewMs === 0 ? hold.leaseMs : hold.limitMs
  fact.acquire = acquire
  hold.trace = new HoldTrace(fact, lock.services.clock)
  // A listener of this publication may have closed the client. Then the hold has already ended.
  const { loss } = hold
  if (loss instanceof LeaseLostError) hold.trace.publishEnd(loss.reason, loss)
  else if (loss !== undefined) hold.trace.publishEnd('closed')
}

/**
 * Publishes the start of a release.
 *
 * @param send releases the hold, and reports the outcome with `reportRelease`
 */
export function traceRelease(
  lock: FactLock,
  hold: Hold,
  send: (fact: ReleaseFact) => Promise<boolean>,
): Promise<boolean> {
  const fact = factOf<ReleaseFact>(lock, hold)
  fact.owner = hold.id.wireOwner
  fact.token = hold.token
  releaseTrace.start.publish(fact)
  const released = send(fact)
  releaseTrace.end.publish(fact)
  return released
}

/**
 * Publishes the outcome of a release.
 *
 * @param fact undefined if the channel had no listener when the release began
 */
export function reportRelease(
  fact: ReleaseFact | undefined,
  outcome: NonNullable<ReleaseFact['outcome']>,
  error?: unknown,
): void {
  if (fact === undefined) return
  fact.outcome = outcome
  if (error !== undefined) fact.error = error
  publishEnd(releaseTrace, fact)
}
