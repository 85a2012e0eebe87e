import { type Hint, MISSED } from '../../hint.ts'
import { permitIds } from '../../permit-ids.ts'
import { PERMITS } from '../../permit-server.ts'
import { FOREVER, type RecordStore } from '../../record-store.ts'
import { SEMAPHORE } from '../../semaphore-server.ts'
import type { Subscription } from '../../subscription.ts'
import type { OpenRecord, RecordPart } from '../open-record.ts'
import { isEmpty } from '../plain-data.ts'
import { expireResults, newResults, resultsUntilMs, type StoredResults } from '../stored-results.ts'
import { expirePlaces, firstPlace, newPermitQueue, type PermitQueue } from './permit-queue.ts'

/** The permits that one acquisition holds. */
export interface TakenPermits {
  readonly endsAt: number
  /** How many permits the owner acquired. */
  readonly permits: number
  /** When the owner acquired the permits, in µs of the server's time. */
  readonly sinceUs: number
  /**
   * The ids of the permits that the owner still holds. `releaseIds` may have released some permits.
   */
  readonly ids: readonly string[]
}

/**
 * The state of one semaphore, with or without leases. Times are in ms of the server's time. As in
 * Redis, expired permits are freed only when a request needs the number of available permits.
 */
export interface Pool {
  /** The number of available permits, which can be below 0; null if no number is set. */
  available: number | null
  /** When the number of available permits expires. */
  endsAt: number
  /** The kind of semaphore for which the number of permits was set. `permits` means with leases. */
  kind: 'permits' | 'semaphore'
  /** The permits that owners hold, by owner. */
  taken: { [owner: string]: TakenPermits }
  /** When all taken permits expire because the semaphore expires. */
  takenEndsAt: number
  readonly queue: PermitQueue
  readonly results: StoredResults<number | 'returned'>
}

export const POOL: RecordPart<Pool> = {
  name: 'pool',
  newState: () => ({
    available: null,
    endsAt: FOREVER,
    kind: 'semaphore',
    taken: {},
    takenEndsAt: FOREVER,
    queue: newPermitQueue(),
    results: newResults(),
  }),
  expire(pool, now) {
    if (now > pool.endsAt) Object.assign(pool, { available: null, endsAt: FOREVER })
    if (now > pool.takenEndsAt) pool.taken = {}
    if (isEmpty(pool.taken)) pool.takenEndsAt = FOREVER
    expirePlaces(pool.queue, now)
    expireResults(pool.results, now)
  },
  untilMs: ({ available, endsAt, taken, takenEndsAt, queue, results }) =>
    Math.max(
      available === null ? 0 : endsAt,
      isEmpty(taken) ? 0 : takenEndsAt,
      isEmpty(queue.places) ? 0 : queue.endsAt,
      resultsUntilMs(results),
    ),
  use: ({ available, endsAt, kind }) =>
    available === null
      ? undefined
      : { what: kind === 'permits' ? PERMITS.what : SEMAPHORE.what, untilMs: endsAt },
}

/**
 * Adds permits; a negative number removes permits. Creates the semaphore if it does not exist.
 *
 * @returns the number of available permits
 */
export function addPermits(pool: Pool, permits: number): number {
  pool.available = (pool.available ?? 0) + permits
  return pool.available
}

/**
 * Deletes the number of permits.
 *
 * @returns true if a number was set
 */
export function deletePool(pool: Pool): boolean {
  const isSet = pool.available !== null
  Object.assign(pool, { available: null, endsAt: FOREVER })
  return isSet
}

/** Returns the number of taken permits. Expired permits count until they are freed. */
export function takenIn({ taken }: Pool): number {
  return Object.values(taken).reduce((sum, { ids }) => sum + ids.length, 0)
}

export function takePermits(
  pool: Pool,
  owner: string,
  taken: Pick<TakenPermits, 'permits' | 'endsAt' | 'sinceUs'>,
): void {
  pool.taken[owner] = { ...taken, ids: permitIds(owner, taken.permits) }
  addPermits(pool, -taken.permits)
  if (pool.endsAt !== FOREVER) pool.takenEndsAt = pool.endsAt
}

/** Lengthens the lease of the owner's permits until `endsAt`. Does not shorten a longer lease. */
export function lengthenPermits({ taken }: Pool, owner: string, endsAt: number): void {
  const own = taken[owner]
  if (own !== undefined) taken[owner] = { ...own, endsAt: Math.max(own.endsAt, endsAt) }
}

/**
 * Makes all permits of the owner available again.
 *
 * @returns true if the owner held all permits of its acquisition
 */
export function giveBackAll(pool: Pool, owner: string): boolean {
  const own = pool.taken[owner]
  if (own === undefined) return false
  delete pool.taken[owner]
  addPermits(pool, own.ids.length)
  return own.ids.length === own.permits
}

/**
 * Makes the permits with these ids available again.
 *
 * @returns how many of these permits were taken
 */
export function giveBackIds(pool: Pool, ids: ReadonlySet<string>): number {
  let given = 0
  for (const [owner, taken] of Object.entries(pool.taken)) {
    const kept = taken.ids.filter((id) => !ids.has(id))
    given += taken.ids.length - kept.length
    if (kept.length === 0) delete pool.taken[owner]
    else if (kept.length < taken.ids.length) pool.taken[owner] = { ...taken, ids: kept }
  }
  if (given > 0) addPermits(pool, given)
  return given
}

/** Makes all permits whose lease has expired available again. */
export function giveBackExpired(pool: Pool, now: number): void {
  for (const [owner, { endsAt }] of Object.entries(pool.taken)) {
    if (endsAt <= now) giveBackAll(pool, owner)
  }
}

export interface WaitBegan {
  /**
   * When the call began to wait, from an earlier answer, in µs of the server's time. '' without an
   * earlier answer.
   */
  readonly waitId: string
  /** How long the call has waited, in milliseconds. Used only if `waitId` is ''. */
  readonly waitedMs: number
}

/** Returns when a call began to wait, in µs of the server's time. */
export function beganUs(record: OpenRecord, { waitId, waitedMs }: WaitBegan): number {
  return waitId === '' ? record.uniqueUs() - waitedMs * 1_000 : Number(waitId)
}

/**
 * Sends a message to the next client in the queue, if enough permits are available for its first
 * call.
 *
 * @param but the id of a client that gets no message
 */
export function wakeNext(record: OpenRecord, but?: string): void {
  const { available, queue } = record.part(POOL)
  if (available === null || available <= 0) return
  const first = firstPlace(queue, record.nowMs)
  if (first === undefined || first.client === but || first.permits > available) return
  wakeClient(record, first.client)
}

export function wakeClient(record: OpenRecord, client: string): void {
  record.publish(channelOf(record.rawName), client)
}

/** Calls `onHint` when this client is next, and when it may have missed messages. */
export function listenToPool(
  store: RecordStore,
  rawName: string,
  clientId: string,
  onHint: (hint: Hint) => void,
): Subscription {
  return store.listen(channelOf(rawName), (message) => {
    if (message === undefined) onHint(MISSED)
    else if (message === clientId) onHint({ kind: 'turn', of: clientId })
  })
}

const channelOf = (rawName: string) => `permits ${rawName}`
