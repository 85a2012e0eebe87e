import type { LockRow } from './rows.ts'
import type { Renewal } from './to-free.ts'

/** What two looks tell of one who has a lock at both. */
interface TwoLooks {
  readonly owner: string
  readonly renewal: Renewal
}

/** A clock and a reply are not exact: so much more is left of a lease than there would be, and it was renewed. */
const CERTAIN_MS = 50

/** @param elapsedMs from the end of the first look to the beginning of the second */
export function looksOf(first: LockRow, second: LockRow, elapsedMs: number): TwoLooks[] {
  return second.holders.map(({ owner, ttlMs }) => {
    const before = first.holders.find((one) => one.owner === owner)
    // An owner may have let go, and have it anew.
    const isSame = before !== undefined && first.token === second.token
    if (!isSame || before.ttlMs === null || ttlMs === null || elapsedMs === 0) {
      return { owner, renewal: 'unknown' }
    }
    const wouldBe = before.ttlMs - elapsedMs
    return { owner, renewal: ttlMs > wouldBe + CERTAIN_MS ? 'renewed' : 'not-renewed' }
  })
}
