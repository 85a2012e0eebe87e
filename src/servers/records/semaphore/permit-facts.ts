import { permitHolders } from '../../permit-holders.ts'
import type { AcquiredPermit, PermitFacts } from '../../permit-server.ts'
import { FOREVER } from '../../record-store.ts'
import { leftMs, sinceMs } from '../moments.ts'
import { firstPlace, waitingForPermits } from './permit-queue.ts'
import { type Pool, type TakenPermits, takenIn } from './pool.ts'

type Taker = readonly [owner: string, taken: TakenPermits]

/**
 * A refusal to a waiting client lists holders until they have at least this many permits together.
 */
const LISTED_PERMITS = 4

/**
 * Returns how long a waiting client may wait before it checks again, in milliseconds. If another
 * client is next, this is the time until the place of that client expires. Otherwise this is the
 * time until the first lease ends; Infinity without a lease.
 */
export function checkAgainMs(pool: Pool, client: string, now: number): number {
  const first = firstPlace(pool.queue, now)
  const isOther = first !== undefined && first.client !== client
  const ends = Object.values(pool.taken).map(({ endsAt }) => endsAt)
  const endsAt = isOther ? first.untilMs + 1 : Math.min(FOREVER, ...ends)
  return leftMs(endsAt, Math.floor(now))
}

/**
 * Returns the holders whose leases end first, until they have {@link LISTED_PERMITS} permits
 * together.
 */
export function someHolders(pool: Pool, now: number) {
  const listed: Taker[] = []
  let permits = 0
  for (const taker of takersOf(pool)) {
    if (permits >= LISTED_PERMITS) break
    listed.push(taker)
    permits += taker[1].ids.length
  }
  return ownersIn(listed, now)
}

/** @param most lists at most this many permits, and at most this many waiting clients */
export function permitFacts(pool: Pool, most: number, now: number): PermitFacts {
  const takers = takersOf(pool).filter(([, { endsAt }]) => endsAt > now)
  const taken = takers.reduce((sum, [, { ids }]) => sum + ids.length, 0)
  const available = (pool.available ?? 0) + takenIn(pool) - taken
  const acquired = acquiredPermits(takers, most, now)
  return {
    permits: pool.available !== null || taken > 0 ? available + taken : null,
    available,
    taken,
    acquired,
    holders: permitHolders(acquired, ownersIn(takers, now), taken),
    waiting: waitingForPermits(pool.queue, most, now),
  }
}

/** Returns the permits of these owners, at most `most` permits. */
function acquiredPermits(takers: readonly Taker[], most: number, now: number): AcquiredPermit[] {
  const acquired: AcquiredPermit[] = []
  for (const [, { ids, endsAt }] of takers) {
    const listed = ids.slice(0, most - acquired.length)
    for (const id of listed) acquired.push({ id, ttlMs: endsAt - Math.floor(now) })
    if (acquired.length === most) break
  }
  return acquired
}

/**
 * Returns for each owner how many permits it acquired, and how long it has held them, in
 * milliseconds.
 */
function ownersIn(takers: readonly Taker[], now: number) {
  return takers.map(([owner, { permits, sinceUs }]) => ({
    owner,
    permits,
    ageMs: sinceMs(sinceUs, now),
  }))
}

/**
 * Returns the owners that hold permits. The owner whose lease ends first is first. If leases end
 * together, the ids of the permits decide, as in Redis.
 */
function takersOf({ taken }: Pool): Taker[] {
  const firstId = ({ ids }: TakenPermits) => ids[0] ?? ''
  return Object.entries(taken).sort(
    ([, a], [, b]) => a.endsAt - b.endsAt || (firstId(a) < firstId(b) ? -1 : 1),
  )
}
