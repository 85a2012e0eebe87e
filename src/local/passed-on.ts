import { elapsedMs } from '../kit/clock.ts'
import { Hold } from '../lease/hold.ts'
import { validityMs } from '../lease/validity.ts'
import type { Waiter } from '../waiting/waiter.ts'
import type { Holds } from './holds.ts'
import type { Services } from './services.ts'

interface PassedLock {
  readonly holds: Holds
  readonly services: Pick<Services, 'clock'>
}

/** A hand-over without a request is possible until this share of the lease has passed. */
const MOST_USED = 0.02

/**
 * Hands the lock over to the waiter without a request. The new hold has the same owner id, the next
 * reserved token and the same lease.
 *
 * @returns the new hold. Null if no token is reserved, the hold is not `untouched`, the leases
 *   differ, or too much of the lease has passed
 */
export function passedOn({ holds, services }: PassedLock, hold: Hold, waiter: Waiter): Hold | null {
  const { clock } = services
  const { request } = waiter
  if (hold.token >= hold.lastToken || !hold.untouched) return null
  if (hold.leaseMs !== request.leaseMs) return null
  const { proof, leaseMs } = hold
  const leftMs = proof.validForMs - elapsedMs(proof.sentAt, clock.now())
  if (leftMs < validityMs(leaseMs) - leaseMs * MOST_USED) return null
  const following = new Hold(
    {
      lockName: hold.lockName,
      owner: request.owner,
      id: hold.id,
      token: hold.token + 1,
      lastToken: hold.lastToken,
      kind: hold.kind,
      leaseMs,
      ...proof,
    },
    clock,
    holds,
  )
  const now = clock.monotonic()
  following.beganAt = now
  following.askedAt = now - waiter.waitedMs
  following.inDoubtUntil(hold.doubtUntilMs)
  hold.heir = following
  return following
}
