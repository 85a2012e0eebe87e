import type { AcquiredPermit } from '../permit-server.ts'
import { timeUs } from './records/moments.ts'
import type { SemaphoreRecord } from './records/semaphore-record.ts'

/** A refusal tells a waiting client the holders of this many permits. */
const TOLD = 4

/**
 * How long to wait before the next check, in milliseconds. The check is needed when the place of
 * the client that is next expires, or when permits expire. -1 if unknown.
 */
export function lookAgainMs(semaphore: SemaphoreRecord, client: string, now: number): number {
  const first = semaphore.waiting.first(now)
  const isOther = first !== undefined && first.client !== client
  const endsAt = isOther ? first.untilMs + 1 : semaphore.firstEndsAt
  return endsAt === Infinity ? -1 : Math.max(0, Math.ceil(endsAt - Math.floor(now)))
}

/** The acquired permits, at most `most`. */
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

/** The holders of the first permits, for a client that waits. */
export function someHolders(semaphore: SemaphoreRecord, now: number) {
  const told: SemaphoreRecord['takers'][number][] = []
  let permits = 0
  for (const taker of semaphore.takers) {
    if (permits >= TOLD) break
    told.push(taker)
    permits += taker[1].ids.length
  }
  return ownersIn(told, now)
}

/** The owners of permits, and how long each has held them. */
export function ownersIn(takers: SemaphoreRecord['takers'], now: number) {
  return takers.map(([owner, { sinceUs }]) => {
    return { owner, ageMs: Math.max(0, Math.round((timeUs(now) - sinceUs) / 1_000)) }
  })
}
