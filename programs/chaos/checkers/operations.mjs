// Converts the reports about a lock into operations of a model.
import { forgottenTokens, knownUntil, lostFrom, WINDOW_MARGIN_MS, windowsOf } from './windows.mjs'

/** The longest difference between the clocks of a process and of the witness, in milliseconds. */
const CLOCK_MARGIN_MS = 5

/**
 * Leaves out attempts without a hold, because they prove nothing about the lock. Attempts with an unknown outcome
 * become operations without a return. Releases with an unknown outcome, and leases, become endings: times from which
 * a hold may end by itself.
 *
 * @param all attempts of one lock
 * @param history for its windows, and for the times in which masters forgot all keys
 * @returns `{ operations, endings }`, each with its `attempt`
 */
export function operationsOf(all, { windows, emptied, about }) {
  const isWithoutLease = all[0]?.family === 'semaphore'
  const attempts = isWithoutLease ? knownUntil(all, lostFrom(windows, all[0].lock, all)) : all
  const outers = outersOf(attempts)
  const windowsIn = windowsOf(windows, attempts[0]?.lock)
  const emptiedIn = windowsOf(emptied)
  const epochMs = about?.epochMs ?? 0
  const forgottenBelow = forgottenTokens(windows, epochMs)
  const highestBefore = highestTokens(attempts, epochMs)
  const operations = []
  const endings = []
  for (const attempt of attempts) {
    if (attempt.result === 'refused') continue
    const outer = outers.get(attempt.within)
    const { askedAt: from, token, permits, mode } = attempt
    // With another token, or in another mode, the attempt has its own hold.
    const again = outer !== undefined && outer.token === token && outer.mode === mode
    const hold = again ? outer.id : attempt.id
    const acquire = { kind: 'acquire', hold, again, token, permits, from, attempt }
    if (mode !== undefined) Object.assign(acquire, { mode, owner: outer?.id ?? attempt.id })
    // If a server could forget the last writer, a reader may get a lower token.
    if (mode === 'read' || mode === 'upgradable') {
      const at = attempt.settledAt ?? from
      const below = forgottenBelow(at)
      if (token < below && token < highestBefore(at)) acquire.forgottenBelow = below
    }
    if (attempt.result !== 'granted') {
      operations.push({ ...acquire, to: Infinity })
      continue
    }
    const { settledAt, closedAt = Infinity, releasingAt, releasedAt = Infinity, released } = attempt
    const validUntil = Math.max(attempt.validUntil, again ? outer.validUntil : 0)
    const taken = windowsIn(from, attempt.releasedAt ?? validUntil)
    const isTakenBy = (until) => taken.length > 0 && taken[0].from - WINDOW_MARGIN_MS <= until
    let anyway = isTakenBy(settledAt)
    operations.push({ ...acquire, anyway, to: settledAt })
    let mayEndAt = Math.min(validUntil - CLOCK_MARGIN_MS, closedAt)
    // If a master forgot all keys, too few masters may still have had the lock. The holder learns this at the next
    // renewal or look. Until the holder reports the loss or leaves, it relies on its lease, so its hold does not end
    // before.
    const [empty] = released === true ? [] : emptiedIn(from, Math.min(releasedAt, validUntil))
    const mayBeGone = empty !== undefined
    const believedUntil = Math.min(attempt.leftAt ?? 0, attempt.lostAt ?? Infinity)
    if (mayBeGone) mayEndAt = Math.min(mayEndAt, Math.max(from, empty.from, believedUntil))
    if (released === true || (released === false && !mayBeGone)) {
      anyway = isTakenBy(releasedAt)
      // A client that closes releases its holds. The holder then gets the result of that release.
      const times = { from: Math.min(releasingAt, closedAt), to: releasedAt }
      operations.push({ kind: 'release', hold, permits, held: released, anyway, ...times, attempt })
    } else if (releasingAt !== undefined) mayEndAt = Math.min(mayEndAt, releasingAt)
    // Most holds are released long before that time.
    if (released !== true || mayEndAt <= releasedAt) {
      endings.push({ hold, from: mayEndAt, to: Infinity, attempt })
    }
    for (const one of taken) {
      const begin = one.from - WINDOW_MARGIN_MS
      if (begin >= mayEndAt) continue
      // If a server evicts some keys of a read-write lock, the lock may keep its holders until a script misses the
      // other keys.
      const isPartial = mode !== undefined && !one.isClock
      const until = isPartial ? Infinity : one.to + (one.endsMs ?? 0) + WINDOW_MARGIN_MS
      endings.push({ hold, from: begin, to: until, attempt })
    }
  }
  return { operations, endings }
}

/** For a time, the highest token that was issued until then. The token itself shows its time. */
function highestTokens(attempts, epochMs) {
  const issued = attempts.flatMap(({ token }) => token ?? []).sort((a, b) => a - b)
  return (at) => {
    const latest = (at + epochMs) * 1_000
    let [low, high] = [0, issued.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (issued[middle] <= latest) low = middle + 1
      else high = middle
    }
    return issued[low - 1] ?? -Infinity
  }
}

/** The attempts that other attempts re-enter. */
function outersOf(attempts) {
  const wanted = new Set()
  for (const { within } of attempts) if (within !== undefined) wanted.add(within)
  const outers = new Map()
  if (wanted.size === 0) return outers
  for (const one of attempts) if (wanted.has(one.id)) outers.set(one.id, one)
  return outers
}
