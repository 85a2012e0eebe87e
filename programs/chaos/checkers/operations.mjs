// From what was told of a lock to operations on a model of it.
import { forgottenTokens, knownUntil, lostFrom, WINDOW_MARGIN_MS, windowsOf } from './windows.mjs'

/** What the clocks of a process and of the witness may differ by, in milliseconds. */
const CLOCK_MARGIN_MS = 5

/**
 * Attempts that came to nothing say nothing of the lock, and are left out. Attempts of which nobody knows
 * are operations without a return; releases of which nobody knows, and leases, are endings: times from
 * which a hold may end by itself.
 *
 * @param all attempts of one lock
 * @param history for its windows, and when masters were emptied
 * @returns `{ operations, endings }`, each with the `attempt` that it is of
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
    // Under another token, or in another mode, it is a hold of its own.
    const again = outer !== undefined && outer.token === token && outer.mode === mode
    const hold = again ? outer.id : attempt.id
    const acquire = { kind: 'acquire', hold, again, token, permits, from, attempt }
    if (mode !== undefined) Object.assign(acquire, { mode, owner: outer?.id ?? attempt.id })
    // What a reader is given may be lower, where a server could forget the last writer.
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
    // Too few masters may have had it still: its holder hears of that with the next renewal or look. Not before
    // it was told, or left, for then it believed in its lease.
    const [empty] = released === true ? [] : emptiedIn(from, Math.min(releasedAt, validUntil))
    const mayBeGone = empty !== undefined
    const believedUntil = Math.min(attempt.leftAt ?? 0, attempt.lostAt ?? Infinity)
    if (mayBeGone) mayEndAt = Math.min(mayEndAt, Math.max(from, empty.from, believedUntil))
    if (released === true || (released === false && !mayBeGone)) {
      anyway = isTakenBy(releasedAt)
      // A client that closes releases what it holds: its holder is then told of that release.
      const times = { from: Math.min(releasingAt, closedAt), to: releasedAt }
      operations.push({ kind: 'release', hold, permits, held: released, anyway, ...times, attempt })
    } else if (releasingAt !== undefined) mayEndAt = Math.min(mayEndAt, releasingAt)
    // Most are released long before that.
    if (released !== true || mayEndAt <= releasedAt) {
      endings.push({ hold, from: mayEndAt, to: Infinity, attempt })
    }
    for (const one of taken) {
      const begin = one.from - WINDOW_MARGIN_MS
      if (begin >= mayEndAt) continue
      // A server that evicts some keys of a read-write lock may keep its holders, until a script misses the rest.
      const isPartial = mode !== undefined && !one.isClock
      const until = isPartial ? Infinity : one.to + (one.endsMs ?? 0) + WINDOW_MARGIN_MS
      endings.push({ hold, from: begin, to: until, attempt })
    }
  }
  return { operations, endings }
}

/** For a time, the highest token that was issued by then: a token tells when. */
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

/** Those that others re-enter. */
function outersOf(attempts) {
  const wanted = new Set()
  for (const { within } of attempts) if (within !== undefined) wanted.add(within)
  const outers = new Map()
  if (wanted.size === 0) return outers
  for (const one of attempts) if (wanted.has(one.id)) outers.set(one.id, one)
  return outers
}
