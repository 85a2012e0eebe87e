import { NotDurableError } from '../options/durability.ts'
import { CallFailure } from '../servers/call-failure.ts'
import type { Confirm, Confirmation } from '../servers/durability.ts'
import { OpenRequest } from '../waiting/server-health.ts'
import type { Waiter } from '../waiting/waiter.ts'
import { type Answer, type Asked, abandonName } from './ask.ts'
import type { LocalLock } from './local-lock.ts'

/** Who hears of a grant only when it is confirmed, where it has to be; of all else as it comes. */
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
 * What was asked, when it is known whether a grant counts. One that does not is none: fewer replicas than wanted
 * have it, which rejects the waiter; or it is not known how many, and it is asked again under the same name; or
 * the waiter wants it no more. Whoever gives up the name then releases what was granted.
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
  // It has been granted all the same.
  waiter.doubtUntilMs = Math.max(waiter.doubtUntilMs, lock.services.clock.monotonic())
  const nothing = { grant: null, sentAt: asked.sentAt, pauseMs: 0, unknown: true }
  if (waiter.settled) return nothing
  if (answer.kind === 'short') {
    // Before the next one who waits here asks for it.
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

/** It was aborted or closed, or its time is up. */
const wantedNoMore = (): Confirmation => ({ kind: 'gone' })
