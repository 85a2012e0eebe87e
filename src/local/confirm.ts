import { NotDurableError } from '../options/durability.ts'
import { CallFailure } from '../servers/call-failure.ts'
import type { Confirm, Confirmation } from '../servers/durability.ts'
import { OpenRequest } from '../waiting/server-health.ts'
import type { Waiter } from '../waiting/waiter.ts'
import { type Answer, type Asked, abandonName } from './ask.ts'
import type { LocalLock } from './local-lock.ts'

/**
 * Returns a callback for answers. With `confirm`, it passes a grant to `then` only after replicas
 * have confirmed the grant. It passes all other answers at once.
 */
export function whenConfirmed<A extends Answer>(
  lock: LocalLock,
  waiter: Waiter,
  confirm: Confirm | undefined,
  then: (asked: Asked<A>) => void,
): (asked: Asked<A>) => void {
  if (confirm === undefined) return then
  return (asked) => void confirmed(lock, waiter, confirm, asked).then(then)
}

/**
 * Waits until replicas have confirmed a grant. In these cases the grant does not count, and the
 * result contains no grant:
 * - Fewer replicas than wanted have the grant. The waiter is rejected.
 * - The number of replicas is unknown. The waiter asks again under the same owner id.
 * - The waiter has been settled, for example by an abort.
 *
 * The grant is released when the waiter gives up its owner id.
 */
export async function confirmed<A extends Answer>(
  lock: LocalLock,
  waiter: Waiter,
  confirm: Confirm,
  asked: Asked<A>,
): Promise<Asked<A>> {
  const { wireOwner, retryBudget, request } = waiter
  if (asked.grant?.kind !== 'granted' || wireOwner === undefined) return asked
  const open = retryBudget.health.sent(new OpenRequest(lock.services.clock.now()))
  const unconfirmed = (what: string) =>
    retryBudget.error(what, 'the replicas had not confirmed it yet')
  waiter.notYet = unconfirmed
  const answer = await Promise.race([
    confirm({ key: lock.rawName, wireOwner }).catch((failure: CallFailure) => failure),
    waiter.promise.then(wantedNoMore, wantedNoMore),
  ])
  waiter.notYet = undefined
  open.close()
  if (!waiter.settled && answer.kind === 'confirmed') return asked
  // The server has granted the lock, so abandoning the owner id must release the grant.
  waiter.doubtUntilMs = Math.max(waiter.doubtUntilMs, lock.services.clock.monotonic())
  const nothing = { grant: null, sentAt: asked.sentAt, pauseMs: 0, unknown: true }
  if (waiter.settled) return nothing
  if (answer.kind === 'short') {
    // The owner id is abandoned first, so that its release is sent before the request of the next
    // waiter of this client.
    abandonName(lock, waiter)
    waiter.reject(new NotDurableError(lock.name, answer, request.kind.words))
    return nothing
  }
  const failure = answer instanceof CallFailure ? answer : new CallFailure('unknown', GONE)
  const pauseMs = retryBudget.failed(failure, open.sentAt.monotonic)
  if (pauseMs === null) waiter.reject(retryBudget.error('not acquired'))
  return { ...nothing, pauseMs: pauseMs ?? 0 }
}

const GONE = 'the lock was granted, but was gone before the replicas confirmed it'

/** The result for a waiter that was aborted, closed or timed out during the confirmation. */
const wantedNoMore = (): Confirmation => ({ kind: 'gone' })
