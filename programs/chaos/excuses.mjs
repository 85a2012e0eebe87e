// Excuses: overlaps that the library cannot prevent, because a server forgot the lock of the first holder. An excuse
// has a start and an end. The first lock must be granted before the end, and the second holder must enter after the
// start.
import { epochMs } from './random.mjs'

/** The longest time between an event in a process and its entry in the history, in milliseconds. */
const SLACK_MS = 50

/**
 * @param forgotten `{ lock?, from, to, tokensTellTime }` for each time that a lock was released by force, or that a
 * server forgot it or was replaced
 * @returns the entry that excuses the overlap, or undefined
 */
export function excuseOf(forgotten, lock, first, second) {
  return forgotten.find(
    (one) =>
      (one.lock === undefined || one.lock === lock) &&
      one.from <= second.enteredAt + SLACK_MS &&
      one.to >= grantedAt(one, first, second) - SLACK_MS,
  )
}

/**
 * The earliest time at which the lost lock may have been granted. Both holders count, because a holder enters second
 * if its reply was late.
 */
function grantedAt({ tokensTellTime }, first, second) {
  return tokensTellTime && hasToken(first) && hasToken(second)
    ? Math.min(earliestGrant(first), earliestGrant(second))
    : first.askedAt
}

/** A permit without a lease has no token. */
const hasToken = ({ token }) => token !== undefined

/** The server issues the token of a writer at the grant. A reader gets the token of the last writer. */
function earliestGrant(hold) {
  const { askedAt, mode = 'write' } = hold
  return mode === 'write' ? mintedAt(hold) : Math.max(askedAt, mintedAt(hold))
}

// A single server makes tokens from its clock in µs. This clock is the clock of this machine.
const mintedAt = ({ token }) => token / 1_000 - epochMs()
