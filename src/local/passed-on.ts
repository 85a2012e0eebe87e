import { type Clock, elapsedMs, type Moment } from '../kit/clock.ts'
import { Hold } from '../lease/hold.ts'
import { validityMs } from '../lease/validity.ts'
import type { Owner } from '../owner/owner.ts'
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
 * @param confirmation a request in flight whose answer proves the lease of the new hold; undefined if
 *   there is none
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
  const following = holdAfter(hold, request.owner, hold.token + 1, now.monotonic, clock, holds)
  const calledAt = now.monotonic - waiter.waitedMs
  // The answer to a pending confirmation reports if the lock is gone. So a call that began before
  // the confirmation was sent needs no other check.
  const isVerified = confirmation !== undefined && calledAt <= confirmation.sentAt.monotonic
  following.calledAt = isVerified ? 0 : calledAt
  return following
}

/**
 * Makes the hold that gets the lock from `hold` without a request. The new hold has the same owner id and the same
 * lease.
 *
 * @param now the time on the monotonic clock, in milliseconds
 * @param host called if the new hold is lost
 */
export function holdAfter(
  hold: Hold,
  owner: Owner,
  token: number,
  now: number,
  clock: Clock,
  host: ConstructorParameters<typeof Hold>[2],
): Hold {
  const { lockName, id, lastToken, kind, leaseMs, proof } = hold
  const next = new Hold(
    { lockName, owner, id, token, lastToken, kind, leaseMs, ...proof },
    clock,
    host,
  )
  next.beganAt = now
  next.inDoubtUntil(hold.doubtUntilMs)
  hold.heir = next
  return next
}
