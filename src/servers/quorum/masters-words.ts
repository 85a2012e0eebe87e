import { REDIS_WORDS } from '../redis/connection/redis-words.ts'
import type { ServerWords } from '../server-words.ts'

/** The beginning of each failure that contains the reason of each master. */
export const NO_MAJORITY = 'no majority'

/** Advice for common reasons why masters do not vote. */
const OF_MASTERS: readonly (readonly [RegExp, string])[] = [
  [
    /may have lost/,
    'A master that may have lost leases votes automatically after that time. Find out why it restarted. ' +
      'Masters that have never been used vote at once if one client with `newDeployment: true` requests a lock ' +
      'while all of them can be reached.',
  ],
  [
    /\bE(?:CONN|HOST|NET|PIPE)[A-Z]+|ENOTFOUND|EAI_|ETIMEDOUT|connection (?:was down|broke)|not connected/,
    'If a master cannot be reached, start it, or check its address, the network and TLS.',
  ],
  [
    /no answer|[Tt]imeout/,
    'If a master gives no answer, it hangs or is slow, or the network is slow.',
  ],
  [/no time was left/, 'If no time was left to request a vote again, repeat the call.'],
  [
    /votes were split/,
    'Split votes mean that several clients requested the lock at once: try again, or set a `waitMs`.',
  ],
]

/**
 * Returns the advice for a failure that contains the reason of each master; undefined for other
 * failures.
 */
function stepOfMasters(reasons: string): string | undefined {
  if (!reasons.startsWith(NO_MAJORITY)) return undefined
  const steps = OF_MASTERS.flatMap(([reason, step]) => (reason.test(reasons) ? [step] : []))
  const words = REDIS_WORDS.stepAfter(reasons).trim()
  const all = words === '' ? steps : [...steps, words]
  return [...all, 'More: docs/how-to/independent-masters.md#errors.'].join(' ')
}

export const MASTERS_WORDS: ServerWords = { ...REDIS_WORDS, stepOfMasters }
