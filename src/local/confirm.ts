import { NotDurableError } from '../options/durability.ts'
import { CallFailure } from '../servers/call-failure.ts'
import type { Confirm, Confirmation } from '../servers/durability.ts'
import { OpenRequest } from '../waiting/server-health.ts'
import type { Waiter } from '../waiting/waiter.ts'
import type { LocalLock } from './local-lock.ts'
import { abandonId, type RequestOutcome, type WaiterAnswer } from './request.ts'

/**
 * Returns a callback that receives each result of a request. With `confirm`, a grant reaches `then`
 * only after replicas have confirmed the grant. All other results reach `then` at once.
 */
export function whenConfirmed<A extends WaiterAnswer>(
  lock: LocalLock,
  waiter: Waiter,
  confirm: Confirm | undefined,
  then: (asked: RequestOutcome<A>) => void,
): (asked: RequestOutcome<A>) => void {
  if (confirm === undefined) return then
  return (asked) => void confirmed(lock, waiter, confirm, asked).then(then)
}

/**
 * Waits until replicas have confirmed a grant. In these cases the grant does not count, and the
 * result contains no grant:
 * - Fewer replicas than wanted have the grant. The waiter is rejected.
 * - The confirmation failed, or the lock was gone before the confirmation. The waiter asks again
 *   with the same owner id, or is rejected if its retry budget is used up.
 * - The waiter has settled meanwhile, for example by an abort.
 *
 * The client releases a grant that does not count when the waiter abandons its owner id.
 */
export async function confirmed<A extends WaiterAnswer>(
  lock: LocalLock,
  waiter: Waiter,
  confirm: Confirm,
  asked: RequestOutcome<A>,
): Promise<RequestOutcome<A>> {
  const { ownerId, retryBudget, request } = waiter
  if (asked.grant?.kind !== 'granted' || ownerId === undefined) return asked
  const open = retryBudget.health.sent(new OpenRequest(lock.services.clock.now()))
  const unconfirmed = (what: string) =>
    retryBudget.error(what, 'the replicas had not confirmed it yet')
  waiter.notYet = unconfirmed
  const answer = await Promise.race([
    confirm({ rawName: lock.rawName, ownerId }).catch((failure: CallFailure) => failure),
    waiter.promise.then(wantedNoMore, wantedNoMore),
  ])
  waiter.notYet = undefined
  open.finish()
  if (!waiter.settled && answer.kind === 'confirmed') return asked
  // The server has granted the lock. Because `doubtUntilMs` is above 0, `abandonId` releases the grant.
  waiter.doubtUntilMs = Math.max(waiter.doubtUntilMs, lock.services.clock.monotonic())
  const nothing = { grant: null, sentAt: asked.sentAt, pauseMs: 0, unknown: true }
  if (waiter.settled) return nothing
  if (answer.kind === 'short') {
    // The waiter abandons its owner id first, so that the release is sent before the request of the
    // next waiter of this client.
    abandonId(lock, waiter)
    waiter.reject(new NotDurableError(lock.name, answer, request.kind.words))
    return nothing
  }
  const failure = answer instanceof CallFailure ? answer : new CallFailure('unknown', GONE)
  const pauseMs = retryBudget.failed(failure, open.sentAt.monotonic)
  if (pauseMs === null) waiter.reject(retryBudget.error('not acquired'))
  return { ...nothing, pauseMs: pauseMs ?? 0 }
}

const GONE = 'the lock was granted, but was gone before the replicas confirmed it'

/** The result if the waiter settles before the confirmation arrives. */
const wantedNoMore = (): Confirmation => ({ kind: 'gone' })
