import type { AcquiredPermit } from '../permit-server.ts'
import { timeUs } from './records/moments.ts'
import type { SemaphoreRecord } from './records/semaphore-record.ts'

/**
 * A refusal of a waiting client lists the holders of at least this many permits, if there are so
 * many.
 */
const TOLD = 4

/**
 * Returns when a waiting client must check again, in milliseconds from now. If another client is
 * next, its place may expire then; otherwise the first lease ends. Infinity means that no such time is
 * known.
 */
export function checkAgainMs(semaphore: SemaphoreRecord, client: string, now: number): number {
  const first = semaphore.waiting.first(now)
  const isOther = first !== undefined && first.client !== client
  const endsAt = isOther ? first.untilMs + 1 : semaphore.firstEndsAt
  return Math.max(0, Math.ceil(endsAt - Math.floor(now)))
}

/** Returns the permits of these owners, at most `most` permits. */
export function acquiredPermits(
  takers: SemaphoreRecord['takers'],
  most: number,
  now: number,
): AcquiredPermit[] {
  const acquired: AcquiredPermit[] = []
  for (const [, { ids, endsAt }] of takers) {
    const listed = ids.slice(0, most - acquired.length)
    for (const id of listed) acquired.push({ id, ttlMs: endsAt - Math.floor(now) })
    if (acquired.length === most) break
  }
  return acquired
}

/** Returns the holders whose leases end first, with {@link TOLD} permits or a few more. */
export function someHolders(semaphore: SemaphoreRecord, now: number) {
  const listed: SemaphoreRecord['takers'][number][] = []
  let permits = 0
  for (const taker of semaphore.takers) {
    if (permits >= TOLD) break
    listed.push(taker)
    permits += taker[1].ids.length
  }
  return ownersIn(listed, now)
}

/** Returns these owners, and how long each has held its permits, in milliseconds. */
export function ownersIn(takers: SemaphoreRecord['takers'], now: number) {
  return takers.map(([owner, { sinceUs }]) => {
    return { owner, ageMs: Math.max(0, Math.round((timeUs(now) - sinceUs) / 1_000)) }
  })
}
