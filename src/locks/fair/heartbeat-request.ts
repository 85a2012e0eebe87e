import type { Moment } from '../../kit/clock.ts'
import type { HeartbeatAnswer } from '../../servers/answers.ts'
import type { CallFailure } from '../../servers/call-failure.ts'
import { CLAIM_MS, type FairServer } from '../../servers/fair-server.ts'
import { OpenRequest } from '../../waiting/server-health.ts'
import type { Place } from './place.ts'

/** A fair lock, and the places that one heartbeat lists. */
type BeatenLock = readonly [lock: { readonly rawName: string }, places: readonly Place[]]

/**
 * Sends one heartbeat for places of several fair locks. Records the answer or the failure in the `ServerHealth` of the
 * waiters of these locks.
 *
 * @param listens true if the client receives the messages of grants
 * @returns the answer or the text of an error for each lock; null if the request failed
 */
export async function sendHeartbeat(
  server: FairServer,
  listed: readonly BeatenLock[],
  listens: () => boolean,
  sentAt: Moment,
): Promise<(HeartbeatAnswer | string)[] | null> {
  const locks = listed.map(([{ rawName }, places]) => ({
    rawName,
    // Runs each time the request is sent, so that the server does not restore the place of a waiter that has left.
    places: () => places.filter((place) => place.inLine),
  }))
  const healths = listed.map(
    ([, places]) => new Set(places.map((place) => place.waiter.retryBudget.health)),
  )
  const open = healths.flatMap((some) =>
    [...some].map((health) => health.sent(new OpenRequest(sentAt))),
  )
  try {
    const beats = await server.beat(locks, listens, CLAIM_MS)
    for (const [i, some] of healths.entries()) {
      // An error about one lock does not count as an answer of the server.
      if (typeof beats[i] === 'object') for (const health of some) health.answered()
    }
    return beats
  } catch (failure) {
    for (const health of healths.flatMap((some) => [...some])) {
      health.failed(failure as CallFailure, sentAt.monotonic)
    }
    return null
  } finally {
    for (const request of open) request.finish()
  }
}
