// From what was told of a lock to operations on a model of it.
import { WINDOW_MARGIN_MS, windowsOf } from './windows.mjs'

/** What the clocks of a process and of the witness may differ by, in milliseconds. */
const CLOCK_MARGIN_MS = 5

/**
 * Attempts that came to nothing say nothing of the lock, and are left out. Attempts of which nobody knows
 * are operations without a return; releases of which nobody knows, and leases, are endings: times from
 * which a hold may end by itself.
 *
 * @param attempts of one lock
 * @param history for its windows
 * @returns `{ operations, endings }`, each with the `attempt` that it is of
 */
export function operationsOf(attempts, { windows, about }) {
  const byId = new Map()
  const windowsIn = windowsOf(windows, attempts[0]?.lock)
  const operations = []
  const endings = []
  for (const attempt of attempts) byId.set(attempt.id, attempt)
  for (const attempt of attempts) {
    if (attempt.result === 'refused') continue
    const outer = byId.get(attempt.within)
    const again = outer !== undefined && outer.token === attempt.token
    const hold = (again ? outer : attempt).id
    const { askedAt, token, permits } = attempt
    const isGranted = attempt.result === 'granted'
    const common = { hold, token, permits, attempt }
    const validUntil = Math.max(attempt.validUntil, again ? outer.validUntil : 0)
    const taken = windowsIn(askedAt, attempt.releasedAt ?? validUntil)
    const isTaken = (until) =>
      taken.length > 0 && taken[0].from - WINDOW_MARGIN_MS <= until ? true : undefined
    const to = isGranted ? attempt.settledAt : Infinity
    operations.push({ ...common, kind: 'acquire', again, anyway: isTaken(to), from: askedAt, to })
    if (!isGranted) continue

    const { closedAt = Infinity, releasingAt, releasedAt = Infinity, released } = attempt
    let mayEndAt = Math.min(validUntil - CLOCK_MARGIN_MS, closedAt)
    if (releasingAt !== undefined) {
      const isKnown = released === true || (released === false && !about.mayLose)
      if (isKnown) {
        const anyway = isTaken(releasedAt)
        const release = { ...common, kind: 'release', held: released, anyway }
        operations.push({ ...release, from: releasingAt, to: releasedAt })
      } else mayEndAt = Math.min(mayEndAt, releasingAt)
    }
    // Most are released long before that.
    if (released !== true || mayEndAt <= releasedAt) {
      endings.push({ hold, from: mayEndAt, to: Infinity, attempt })
    }
    for (const { from, to } of taken) {
      if (from - WINDOW_MARGIN_MS >= mayEndAt) continue
      endings.push({ hold, from: from - WINDOW_MARGIN_MS, to: to + WINDOW_MARGIN_MS, attempt })
    }
  }
  return { operations, endings }
}
