// Two cells to which holders write. Only the lock protects the first cell. The second cell checks the tokens.
import { actsUntil } from './acts-until.mjs'
import { windowsOf } from './windows.mjs'

/** Accepts a write only if its token is at least the highest token so far. */
export class FencedCell {
  #highest = 0

  write(token) {
    if (token < this.#highest) return false
    this.#highest = token ?? this.#highest
    return true
  }
}

/**
 * A holder reads the counter in the unfenced cell when it enters, and later writes the counter plus one. If another
 * holder wrote in between, its update is lost. The update counts as lost only if both leases were valid at the time
 * of their writes. Only a token can stop a write after the end of the lease.
 *
 * In the fenced cell a token is stale if a later holder has already written. A later holder asked after the holder of
 * the token had entered.
 *
 * @param attempts of one lock
 */
export function judgeCells(lock, attempts, windows) {
  const verdict = { writes: 0, lost: [], excused: 0, late: 0, refused: 0, stale: [] }
  const windowsIn = windowsOf(windows, lock)
  const writes = attempts
    .filter(({ wroteAt }) => wroteAt !== undefined)
    .sort((a, b) => a.wroteAt - b.wroteAt)
  verdict.writes = writes.length
  for (const [i, second] of writes.entries()) {
    for (let k = i - 1; k >= 0 && writes[k].wroteAt > second.enteredAt; k--) {
      const first = writes[k]
      if (first.wroteAt > actsUntil(first) || second.wroteAt > actsUntil(second)) verdict.late += 1
      else if (windowsIn(Math.min(first.askedAt, second.askedAt), second.wroteAt).length > 0) {
        verdict.excused += 1
      } else verdict.lost.push({ lock, first, second })
    }
  }
  let latest
  for (const one of writes) {
    if (!one.accepted) {
      verdict.refused += 1
      continue
    }
    if (latest !== undefined && latest.askedAt > one.enteredAt) {
      verdict.stale.push({ lock, first: latest, second: one })
    }
    if (latest === undefined || one.askedAt > latest.askedAt) latest = one
  }
  return verdict
}
