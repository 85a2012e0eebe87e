import type { NextHolder } from '../answers.ts'
import { ALIVE_MS, CLAIM_MS, type FairGrant, MOST_IN_RUN } from '../fair-server.ts'
import { clientOf } from '../owner-id.ts'
import { mint } from './counter.ts'
import { type ClientMark, type LockQueue, removeFromQueue, setMark } from './lock-queue.ts'
import type { OpenRecord } from './open-record.ts'
import { giveLock, LOCK_PART } from './stored-lock.ts'

/** The inbox of one client: the channel of its grants. */
export const grantChannel = (clientId: string) => `grants ${clientId}`

interface Giving {
  /** How long the server remembers the last token, in milliseconds; 0 means forever. */
  readonly counterMs: number
  /**
   * The owner that sends the request. A grant to this owner has a lease of `leaseMs`, not only a
   * claim window.
   */
  readonly asker?: { readonly owner: string; readonly leaseMs: number }
  /** The client that sends the request. It counts as alive. */
  readonly own?: string
  /**
   * True if the client that sends the request reads the new holder from the answer. The server then
   * sends this client no message.
   */
  readonly silent?: boolean
  /** With `silent`: the largest number of owners in a run for the client `own`; 0 by default. */
  readonly most?: number
  /**
   * The token of the hold that ends; 0 or undefined if the request names no token. The new token is
   * higher.
   */
  readonly above?: number
}

type NewHolder = Omit<NextHolder, 'own'>

/** A client that waits, as it reports itself. */
export interface WaitingProcess {
  readonly clientId: string
  readonly label: string
  /** True if the client listens to its inbox. */
  readonly listens: boolean
}

/** Keeps the places of a client for up to `ALIVE_MS` from now on. */
export function stayAlive(record: OpenRecord, { clientId, label, listens }: WaitingProcess): void {
  const { queue } = record.part(LOCK_PART)
  const { nowMs } = record
  const mark = queue.marks[clientId]
  // Another request of the client kept the places a short time ago.
  if (mark?.seen === listens && mark.untilMs - nowMs > 0.75 * ALIVE_MS) return
  const seen = listens && isListening(record, clientId)
  setMark(queue, clientId, { untilMs: nowMs + ALIVE_MS, seen, label }, nowMs)
  queue.endsAt = nowMs + 2 * ALIVE_MS
  queue.marksEndAt = queue.endsAt
}

/**
 * Returns the first owner in the queue whose client is alive. Removes the owners before this owner
 * from the queue.
 */
export function firstAlive(record: OpenRecord, own: string): string | undefined {
  const { queue } = record.part(LOCK_PART)
  for (let [owner] = queue.order; owner !== undefined; [owner] = queue.order) {
    const client = clientOf(owner)
    if (client === own || isAlive(record, client, queue.marks[client])) return owner
    removeFromQueue(queue, owner)
  }
  return undefined
}

/**
 * Grants the free lock to the first owner in the queue whose client is alive. If the queue has no
 * such owner, the asker gets the lock. The asker gets a lease of `leaseMs`. Another owner gets a
 * claim window, and usually its client receives a message.
 *
 * A client that is alive may be skipped by mistake. Its next heartbeat adds its owners to the queue
 * again.
 *
 * @returns the new holder; null if the lock stays free
 */
export function giveToNext(record: OpenRecord, giving: Giving): NewHolder | null {
  const { asker, own = asker && clientOf(asker.owner), silent } = giving
  const { queue } = record.part(LOCK_PART)
  for (let [owner] = queue.order; owner !== undefined; [owner] = queue.order) {
    const client = clientOf(owner)
    const claimMs = queue.claims[owner] ?? CLAIM_MS
    removeFromQueue(queue, owner)
    if (owner === asker?.owner) return give(record, giving, owner, asker.leaseMs)
    const mark = queue.marks[client]
    if (client === own || isAlive(record, client, mark)) {
      const isPublished = !(silent && client === own)
      const mostByMessage = mark?.seen ? MOST_IN_RUN : 0
      const run = runOf(queue, client, isPublished ? mostByMessage : (giving.most ?? 0))
      const given = give(record, { ...giving, reserve: run.length }, owner, claimMs, CLAIM_MS)
      const grant = run.length === 0 ? given : { ...given, run }
      if (!isPublished) return grant
      publishGrant(record, client, grant)
      return given
    }
    delete queue.marks[client]
  }
  return asker ? give(record, giving, asker.owner, asker.leaseMs) : null
}

/**
 * Returns the run of the client: the owners at the head of the queue, up to the first owner of another
 * client. Returns at most `most` owners.
 */
function runOf({ order }: LockQueue, client: string, most: number): readonly string[] {
  const first = order.slice(0, most)
  const end = first.findIndex((owner) => clientOf(owner) !== client)
  return end === -1 ? first : first.slice(0, end)
}

function give(
  record: OpenRecord,
  { counterMs, above = 0, reserve = 0 }: Giving & { readonly reserve?: number },
  owner: string,
  leaseMs: number,
  keptMs = leaseMs,
): NewHolder {
  giveLock(record, owner, leaseMs)
  return { owner, token: mint(record, { leaseMs: keptMs, counterMs, above, reserve }) }
}

function publishGrant(record: OpenRecord, client: string, given: Omit<FairGrant, 'rawName'>): void {
  const grant: FairGrant = { rawName: record.rawName, ...given }
  record.publish(grantChannel(client), JSON.stringify(grant))
}

/**
 * True if a client is alive, so its places are valid. False if its mark has expired, or if it listened
 * before and does not listen now.
 */
function isAlive(record: OpenRecord, client: string, mark: ClientMark | undefined): boolean {
  if (mark === undefined || mark.untilMs < record.nowMs) return false
  return !mark.seen || isListening(record, client)
}

function isListening({ moment }: OpenRecord, client: string): boolean {
  return (moment.listeners(grantChannel(client)) ?? 0) > 0
}
