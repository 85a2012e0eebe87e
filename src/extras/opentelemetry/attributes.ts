import type { AcquireFact, AcquireOutcome } from '../../index.ts'

/** What is set on spans and measurements. Those of durations are in seconds. */
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

/** That somebody else has the lock, and that the caller gave up, are answers and no failures. */
export function failureOf({ outcome, error }: AcquireFact): string | undefined {
  return failures.includes(outcome) ? errorType(error, outcome) : undefined
}

/** One word of few, never the message: that has the name of the lock in it. */
export function errorType(error: unknown, otherwise = '_OTHER'): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown }
  for (const word of [code, name]) if (typeof word === 'string' && word !== '') return word
  return otherwise
}
