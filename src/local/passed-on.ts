import { elapsedMs, type Moment } from '../kit/clock.ts'
import { Hold } from '../lease/hold.ts'
import { validityMs } from '../lease/validity.ts'
import type { Waiter } from '../waiting/waiter.ts'
import type { Holds } from './holds.ts'
import type { Services } from './services.ts'

interface PassedLock {
  readonly holds: Holds
  readonly services: Pick<Services, 'clock'>
}

/**
 * A hand-over without a request is possible until this share of the lease has passed since the
 * request that proves the lease.
 */
const MOST_USED = 0.02

/** A request in flight. Its answer proves the whole lease of a hold. */
export interface PendingConfirmation {
  readonly sentAt: Moment
  /** A hand-over is possible while the proved lease is valid for at least this many milliseconds. */
  readonly leastLeftMs: number
}

/**
 * Hands the lock over to the waiter without a request. The new hold has the same owner id, the next
 * reserved token and the same lease.
 *
 * @param confirmation its answer proves the lease of the new hold; undefined if none is in flight
 * @returns the new hold. Null if no token is reserved, the hold is not `untouched`, the leases
 *   differ, or too much of the lease has passed
 */
export function passedOn(
  { holds, services }: PassedLock,
  hold: Hold,
  waiter: Waiter,
  confirmation?: PendingConfirmation,
): Hold | null {
  const { clock } = services
  const { request } = waiter
  if (hold.token >= hold.lastToken || !hold.untouched) return null
  if (hold.leaseMs !== request.leaseMs) return null
  const { proof, leaseMs } = hold
  const now = clock.now()
  const leftMs = proof.validForMs - elapsedMs(proof.sentAt, now)
  const usedMs =
    confirmation === undefined ? validityMs(leaseMs) - leftMs : elapsedMs(confirmation.sentAt, now)
  if (usedMs > leaseMs * MOST_USED || leftMs < (confirmation?.leastLeftMs ?? 0)) return null
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
  following.beganAt = now.monotonic
  const askedAt = now.monotonic - waiter.waitedMs
  // The answer to a pending confirmation reports if the lock is gone. So a call that began before
  // the confirmation was sent needs no other check.
  const isVerified = confirmation !== undefined && askedAt <= confirmation.sentAt.monotonic
  following.askedAt = isVerified ? 0 : askedAt
  following.inDoubtUntil(hold.doubtUntilMs)
  hold.heir = following
  return following
}
