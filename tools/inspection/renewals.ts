import type { LockRow } from './inspection.ts'
import type { RenewalCheck } from './to-free.ts'

/** The result of two reads of the lease of one holder. */
interface TwoReads {
  readonly owner: string
  readonly renewal: RenewalCheck
}

/**
 * A lease counts as renewed if it has this much more time left than without a renewal, in
 * milliseconds. A smaller difference may come from inexact clocks.
 */
const CERTAIN_MS = 50

/**
 * Compares two reads of a lock, for each holder in the second read.
 *
 * @param elapsedMs the time from the end of the first read to the start of the second read, in
 * milliseconds; 0 if there was only one read
 */
export function readsOf(first: LockRow, second: LockRow, elapsedMs: number): TwoReads[] {
  return second.holders.map(({ owner, ttlMs }) => {
    const before = first.holders.find((one) => one.owner === owner)
    // If the token differs, the owner may have acquired the lock again. Then the two reads show
    // different leases.
    const isSame = before !== undefined && first.token === second.token
    if (!isSame || before.ttlMs === null || ttlMs === null || elapsedMs === 0) {
      return { owner, renewal: 'unknown' }
    }
    const wouldBe = before.ttlMs - elapsedMs
    return { owner, renewal: ttlMs > wouldBe + CERTAIN_MS ? 'renewed' : 'not-renewed' }
  })
}
