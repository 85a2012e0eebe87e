import type { AcquireFact, AcquireOutcome } from '../../index.ts'

/** The attributes of spans and measurements. Durations are in seconds. */
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
 * The error type of a failed call; otherwise undefined. A call that finds the lock held, or that
 * gives up, has not failed.
 */
export function failureOf({ outcome, error }: AcquireFact): string | undefined {
  return failures.includes(outcome) ? errorType(error, outcome) : undefined
}

/**
 * Returns one word from a small set. The message of the error is not used, because it contains the
 * lock name.
 */
export function errorType(error: unknown, otherwise = '_OTHER'): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown }
  for (const word of [code, name]) if (typeof word === 'string' && word !== '') return word
  return otherwise
}
