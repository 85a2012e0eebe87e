import type { WaitingForPermits } from '../../facts.ts'
import { FOREVER } from '../../record-store.ts'
import { WAITING_MS } from '../../waiting-time.ts'
import { sinceMs } from '../moments.ts'

/** The place of one client that waits for permits. */
interface PermitPlace {
  readonly client: string
  /** When the client began to wait, in µs of the server's time. */
  readonly sinceUs: number
  /**
   * The number of permits that the client's first waiter wants; 1 until this waiter sends a
   * request.
   */
  readonly permits: number
  /** When the place expires, in milliseconds of the server's time. */
  readonly untilMs: number
}

/**
 * The clients that wait for permits. Each client has one place, for all of its waiters. A client
 * that has waited longer comes first.
 */
export interface PermitQueue {
  places: { [client: string]: PermitPlace }
  endsAt: number
}

export function newPermitQueue(): PermitQueue {
  return { places: {}, endsAt: FOREVER }
}

export function expirePlaces(queue: PermitQueue, now: number): void {
  if (now > queue.endsAt) queue.places = {}
}

/**
 * Returns the place of the client that has waited longest. Removes the expired places before it.
 */
export function firstPlace(queue: PermitQueue, now: number): PermitPlace | undefined {
  let first: PermitPlace | undefined
  for (const place of Object.values(queue.places)) {
    if (first === undefined || isBefore(place, first)) first = place
  }
  if (first === undefined || first.untilMs >= now) return first
  removePlace(queue, first.client)
  return firstPlace(queue, now)
}

/**
 * True if no other client has waited longer.
 *
 * @param client the id of the client that requests permits; '' if its call does not wait
 * @param sinceUs when the client's call began to wait, in µs of the server's time
 */
export function isNext(queue: PermitQueue, client: string, sinceUs: number, now: number): boolean {
  let first = firstPlace(queue, now)
  if (first?.client === client && first.sinceUs < sinceUs) {
    // The stored time belongs to an earlier waiter of the client, which already has its permits.
    // This waiter began later, so another client may be next.
    queue.places[client] = { ...first, sinceUs }
    first = firstPlace(queue, now)
  }
  if (first === undefined) return true
  return client !== '' && (first.client === client || first.sinceUs > sinceUs)
}

/** Gives the client a place for `WAITING_MS`. Replaces an existing place of the client. */
export function enterQueue(
  queue: PermitQueue,
  place: Omit<PermitPlace, 'untilMs'>,
  now: number,
): void {
  queue.places[place.client] = { ...place, untilMs: now + WAITING_MS }
  queue.endsAt = now + 2 * WAITING_MS
}

/**
 * Returns whether a client with a place is next. Also returns how long it may wait before it asks
 * again, in milliseconds. If another client is next, this is the time until that client's place
 * expires.
 */
export function standing(
  queue: PermitQueue,
  client: string,
  now: number,
): { ttlMs: number; isFirst: boolean } {
  const first = firstPlace(queue, now)
  if (first === undefined || first.client === client) return { ttlMs: Infinity, isFirst: true }
  return { ttlMs: Math.max(0, Math.ceil(first.untilMs + 1 - now)), isFirst: false }
}

export function removePlace(queue: PermitQueue, client: string): void {
  delete queue.places[client]
}

/**
 * Called when a waiter of the client does not wait any more. If `isLast` is true, removes the
 * client's place. Otherwise keeps the place for the client's next waiter.
 */
export function goOn(queue: PermitQueue, client: string, isLast: boolean, now: number): void {
  const place = queue.places[client]
  if (isLast) removePlace(queue, client)
  else if (place) queue.places[client] = { ...place, permits: 1, untilMs: now + WAITING_MS }
}

/**
 * Returns the clients whose places have not expired, in the order in which they get permits.
 *
 * @param most the largest number of clients to read
 */
export function waitingForPermits(
  queue: PermitQueue,
  most: number,
  now: number,
): WaitingForPermits[] {
  return Object.values(queue.places)
    .sort((a, b) => (isBefore(a, b) ? -1 : 1))
    .slice(0, most)
    .filter(({ untilMs }) => untilMs >= now)
    .map(({ client, sinceUs, permits }) => ({ client, waitedMs: sinceMs(sinceUs, now), permits }))
}

function isBefore(a: PermitPlace, b: PermitPlace): boolean {
  return a.sinceUs < b.sinceUs || (a.sinceUs === b.sinceUs && a.client < b.client)
}
