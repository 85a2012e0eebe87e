import type { AcquireFact, AcquireOutcome } from '../../index.ts'

/**
 * The names of the attributes of spans and measurements. Attributes with a duration are in seconds.
 */
export const ATTRIBUTES = {
  kind: 'holdfast.lock.kind',
  name: 'holdfast.lock.name',
  outcome: 'holdfast.acquire.outcome',
  path: 'holdfast.acquire.path',
  token: 'holdfast.fencing_token',
  holdOutcome: 'holdfast.hold.outcome',
  stalled: 'holdfast.hold.stalled',
  releaseOutcome: 'holdfast.release.outcome',
  lossReason: 'holdfast.loss.reason',
  link: 'holdfast.link',
  errorType: 'error.type',
} as const

const failures: readonly (AcquireOutcome | undefined)[] = ['outage', 'closed', 'failed']

/**
 * Returns the error type of a call that failed; otherwise undefined. A call has not failed if the
 * lock was held, or if its caller stopped the wait.
 */
export function failureOf({ outcome, error }: AcquireFact): string | undefined {
  return failures.includes(outcome) ? errorType(error, outcome) : undefined
}

/**
 * Returns the code or the name of an error, and not its message, because the message may contain
 * the name of the lock.
 *
 * @param otherwise the result if the error has neither a code nor a name
 */
export function errorType(error: unknown, otherwise = '_OTHER'): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown }
  for (const word of [code, name]) if (typeof word === 'string' && word !== '') return word
  return otherwise
}
