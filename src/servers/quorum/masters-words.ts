import { type CallFailure, NoAnswer, NotConnected } from '../call-failure.ts'
import { REDIS_WORDS, stepAfterAny } from '../redis/connection/redis-words.ts'
import type { ServerWords } from '../server-words.ts'
import { LateVote, RestingMaster } from './master/no-vote.ts'
import { NoMajority } from './no-majority.ts'

type Failures = readonly CallFailure[]

/** Returns a function that tests if a failure or the cause of a failure has this class. */
function hasClass(Class: abstract new (...given: never[]) => CallFailure) {
  return (failures: Failures): boolean =>
    failures.flatMap((one) => [one, one.cause]).some((one) => one instanceof Class)
}

/** Advice for common reasons why masters do not vote. */
const OF_MASTERS: readonly (readonly [(failures: Failures) => boolean, string])[] = [
  [
    hasClass(RestingMaster),
    'A master that may have lost leases votes automatically after that time. Find out why it restarted. ' +
      'Masters that have never been used vote at once if one client with `newDeployment: true` requests a lock ' +
      'while all of them can be reached.',
  ],
  [
    hasClass(NotConnected),
    'If a master cannot be reached, start it, or check its address, the network and TLS.',
  ],
  [hasClass(NoAnswer), 'If a master gives no answer, it hangs or is slow, or the network is slow.'],
  [hasClass(LateVote), 'If no time was left to request a vote again, repeat the call.'],
  [
    (failures) => failures.length === 0,
    'Split votes mean that several clients requested the lock at once: try again, or set a `waitMs`.',
  ],
]

/** Returns the advice for a `NoMajority`; undefined for other failures. */
function stepOfMasters(failure: unknown): string | undefined {
  if (!(failure instanceof NoMajority)) return undefined
  const { reasons } = failure
  const steps = OF_MASTERS.flatMap(([isReason, step]) => (isReason(reasons) ? [step] : []))
  const words = stepAfterAny(reasons).trim()
  const all = words === '' ? steps : [...steps, words]
  return [...all, 'More: docs/how-to/independent-masters.md#errors.'].join(' ')
}

export const MASTERS_WORDS: ServerWords = {
  ...REDIS_WORDS,
  stepAfter: (failure) => stepAfterAny(failure instanceof NoMajority ? failure.reasons : [failure]),
  stepOfMasters,
}
