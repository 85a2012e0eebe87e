// When two holders at once are no fault of the library: a server forgot the first one's lock. It is
// excused only for a lock that was granted before that was over, to whoever came in after it began.
import { epochMs } from './random.mjs'

/** What the clocks of processes may come to between an event and its being written down. */
const SLACK_MS = 50

/**
 * @param forgotten `{ lock?, from, to, tokensTellTime }` of each time that a lock was taken away, by
 * force, or by a server that forgot or was replaced
 * @returns the one that excuses it, or undefined
 */
export function excuseOf(forgotten, lock, first, second) {
  return forgotten.find(
    (one) =>
      (one.lock === undefined || one.lock === lock) &&
      one.from <= second.enteredAt + SLACK_MS &&
      one.to >= grantedAt(one, first, second) - SLACK_MS,
  )
}

/** When the hold that may have been lost was granted at the earliest: the holder whose reply was late enters second. */
function grantedAt({ tokensTellTime }, first, second) {
  return tokensTellTime && hasToken(first) && hasToken(second)
    ? Math.min(earliestGrant(first), earliestGrant(second))
    : first.askedAt
}

/** A permit without a lease has none. */
const hasToken = ({ token }) => token !== undefined

/** A token is issued at the grant, and not before. A reader has the token of the last writer. */
function earliestGrant(hold) {
  const { askedAt, mode = 'write' } = hold
  return mode === 'write' ? mintedAt(hold) : Math.max(askedAt, mintedAt(hold))
}

// One server mints a token of its clock in µs, which is this machine's.
const mintedAt = ({ token }) => token / 1_000 - epochMs()
