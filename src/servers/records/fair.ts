import type { HeartbeatAnswer, QueueAnswer, Released } from '../answers.ts'
import {
  ALIVE_MS,
  CLAIM_MS,
  type EndedFairHold,
  type FairAttempt,
  type LocalPlaces,
} from '../fair-server.ts'
import { hasThisName } from '../name-conflict.ts'
import { clientOf } from '../owner-id.ts'
import { endsInMs } from '../remaining.ts'
import { LOCK_WORDS } from '../server-kind.ts'
import { lastToken, mint } from './counter.ts'
import { firstAlive, giveToNext, stayAlive, type WaitingProcess } from './fair-grants.ts'
import { addToQueue, dropMarks, removeFromQueue } from './lock-queue.ts'
import { timeUs } from './moments.ts'
import type { OpenRecord } from './open-record.ts'
import {
  freeLock,
  heldAnswer,
  heldBy,
  LOCK_PART,
  lengthenLock,
  lockLeft,
  lockOf,
  lockToRelease,
} from './stored-lock.ts'

/**
 * Acquires the lock if the lock is free and the owner is first. If the owner already holds the
 * lock, lengthens the lease. Otherwise adds the owner to the queue, unless `ticket` is null.
 */
export function acquireInTurn(
  record: OpenRecord,
  { owner, leaseMs, ticket }: Omit<FairAttempt, 'listens' | 'callMs'>,
  process: WaitingProcess,
  counterMs: number,
): QueueAnswer {
  const lock = lockOf(record)
  const { queue } = lock
  if (heldBy(lock, owner) !== null) {
    lengthenLock(record, { leaseMs, counterMs })
    const token = lastToken(record) || mint(record, { leaseMs, counterMs })
    return { kind: 'granted', token }
  }
  // A free lock goes to the first owner in the queue whose client is alive. The asker gets the lock
  // only if no such owner is before the asker.
  const giving = { counterMs, asker: { owner, leaseMs } }
  const next = lock.holder === null ? giveToNext(record, giving) : null
  if (next?.owner === owner) return { kind: 'granted', token: next.token }
  const held = heldAnswer(record)
  if (ticket === null) return { ...held, length: queue.order.length }

  const last = queue.order.at(-1)
  const lastTicket = (last !== undefined && queue.tickets[last]) || 0
  const wanted = ticket === '' ? Math.max(timeUs(record.nowMs), lastTicket + 1) : Number(ticket)
  const isNew = addToQueue(queue, owner, wanted) && ticket === ''
  if (last === undefined) queue.endsAt = record.nowMs + 2 * ALIVE_MS
  if (leaseMs < CLAIM_MS) queue.claims[owner] = leaseMs
  stayAlive(record, process)
  return {
    ...held,
    kind: 'queued',
    position: ticket === '' && (isNew || last === owner) ? queue.order.length : null,
    ticket: String(queue.tickets[owner]),
    lastToken: lastToken(record),
    first: queue.order[0] === owner,
  }
}

/**
 * Removes the `served` owners from the queue, and ends the hold of the owner. Then grants the lock to
 * the first waiter, or frees the lock. If the token is '', also removes the owner from the queue.
 */
export function endFairHold(
  record: OpenRecord,
  { owner, token, listens, most = 0, served = [] }: Omit<EndedFairHold, 'holds' | 'callMs'>,
  clientId: string,
  counterMs: number,
): Released {
  const lock = lockToRelease(record)
  const { queue } = lock
  for (const one of served) removeFromQueue(queue, one)
  if (token === '') {
    removeFromQueue(queue, owner)
    if (queue.order.length === 0) dropMarks(queue)
  }
  const last = lastToken(record)
  const isOther = token !== '' && last !== 0 && last !== token
  if (heldBy(lock, owner) === null || isOther) return { kind: 'gone' }
  // The client ignores the answer to a background release. So a new holder in the same client needs
  // a message.
  const silent = token !== ''
  const giving = { counterMs, own: clientOf(owner), silent, most, above: token || 0 }
  const following = giveToNext(record, giving)
  if (following !== null) {
    const own = clientOf(following.owner) === clientId
    return { kind: 'freed', others: 0, following: { ...following, own } }
  }
  if (queue.order.length === 0) dropMarks(queue)
  return { kind: 'freed', others: freeLock(record, listens) }
}

/**
 * Keeps the places of a client in the queue of one lock. If the lock is free, also grants the lock
 * to the first waiter.
 *
 * @returns as `FairServer.beat` does for one lock
 */
export function beatOnce(
  record: OpenRecord,
  asked: ReturnType<LocalPlaces['places']>,
  process: WaitingProcess,
  counterMs: number,
): HeartbeatAnswer | string {
  const { what } = record
  if (what !== undefined && what !== LOCK_WORDS) return hasThisName(what)
  const { clientId } = process
  const lock = record.part(LOCK_PART)
  const { queue } = lock
  const wanted = asked.filter(({ ownerId }) => heldBy(lock, ownerId) === null)
  const missing = wanted.filter(({ ownerId, ticket }) => addToQueue(queue, ownerId, Number(ticket)))
  if (missing.length > 0) {
    queue.endsAt = record.nowMs + 2 * ALIVE_MS
    for (const { ownerId, claimMs } of wanted) {
      if (claimMs < CLAIM_MS) queue.claims[ownerId] = claimMs
    }
  }
  if (asked.length > 0) stayAlive(record, process)
  if (lock.holder === null) giveToNext(record, { counterMs, own: clientId })
  const holder = lock.holder?.owner ?? ''
  const ttlMs = endsInMs(lockLeft(lock, record.nowMs))
  // When a claim window ends, the client of `first` checks the lock. So this client must be alive.
  const isClaim = ttlMs <= CLAIM_MS
  return {
    ttlMs,
    lastToken: lastToken(record),
    first: (isClaim ? firstAlive(record, clientId) : queue.order[0]) ?? '',
    granted: clientOf(holder) === clientId ? holder : '',
    missing: missing.length,
    holder,
  }
}
