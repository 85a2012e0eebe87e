import { elapsedMs } from '../kit/clock.ts'
import { Hold } from '../lease/hold.ts'
import { validityMs } from '../lease/validity.ts'
import type { Waiter } from '../waiting/waiter.ts'
import type { Holds } from './holds.ts'
import type { Services } from './services.ts'

/** The lock that is passed on. */
interface Lock {
  readonly holds: Holds
  readonly services: Pick<Services, 'clock'>
}

/** A lease of which more is used is not passed on. */
const MOST_USED = 0.02

/**
 * Whom the lock passes to without a word to Redis, where it has it in the name of a hold that
 * ends: the lease is the same and has only just begun, and its tokens are not used up. Where the
 * waiter asked after Redis last said that the lock is held, Redis is asked again as it has it.
 *
 * @returns the hold of the waiter; null where Redis is to be asked
 */
export function passedOn({ holds, services }: Lock, hold: Hold, waiter: Waiter): Hold | null {
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
