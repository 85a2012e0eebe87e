import type { LockRow } from './rows.ts'
import type { Renewal } from './to-free.ts'

/** The result of two looks at one holder. */
interface TwoLooks {
  readonly owner: string
  readonly renewal: Renewal
}

/**
 * Clocks and replies are not exact. A lease counts as renewed only if it has at least this much
 * more time left than expected, in milliseconds.
 */
const CERTAIN_MS = 50

/** @param elapsedMs from the end of the first look to the beginning of the second look */
export function looksOf(first: LockRow, second: LockRow, elapsedMs: number): TwoLooks[] {
  return second.holders.map(({ owner, ttlMs }) => {
    const before = first.holders.find((one) => one.owner === owner)
    // With another token, the owner has acquired the lock again, so the two leases cannot be
    // compared.
    const isSame = before !== undefined && first.token === second.token
    if (!isSame || before.ttlMs === null || ttlMs === null || elapsedMs === 0) {
      return { owner, renewal: 'unknown' }
    }
    const wouldBe = before.ttlMs - elapsedMs
    return { owner, renewal: ttlMs > wouldBe + CERTAIN_MS ? 'renewed' : 'not-renewed' }
  })
}
