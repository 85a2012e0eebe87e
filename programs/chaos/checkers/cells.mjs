// Two cells that holders write to: one has no protection but the lock, one looks at the tokens.
import { actsUntil } from './acts-until.mjs'
import { windowsOf } from './windows.mjs'

/** Takes a write only with a token that is not lower than the highest that it has seen. */
export class FencedCell {
  #highest = 0

  write(token) {
    if (token < this.#highest) return false
    this.#highest = token ?? this.#highest
    return true
  }
}

/**
 * In the unfenced cell a holder reads a counter when it enters and writes it back, one higher, later. Who
 * wrote in between was overwritten: a lost update. It counts where both believed their leases valid
 * when their writes came; a write that came after the lease is what only a token stops.
 *
 * In the fenced cell a token is stale when one who asked after its holder had entered has written before.
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
