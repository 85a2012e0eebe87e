import { isUpgradable, isWriter, sideId } from '../../owner-id.ts'
import { FOREVER } from '../../record-store.ts'
import { leftMs } from '../moments.ts'
import { isEmpty, sizeOf } from '../plain-data.ts'

/**
 * The value of `sinceUs` for an owner that waits for an upgrade. Real times are greater, so such an
 * owner comes first.
 */
export const GOES_ON = 3

/**
 * The place of a waiter. All readers and writers of a client share one place. Its waiters for the
 * upgradable lock share a second place. An owner that already holds another side of the lock has
 * its own place.
 */
export interface WaitingPlace {
  readonly member: string
  readonly client: string
  readonly wanted: 'read' | 'upgradable' | 'write' | 'upgrade'
}

export interface Waiting extends WaitingPlace {
  /** When the wait began, in µs of the server's time; {@link GOES_ON} for an upgrade. */
  readonly sinceUs: number
}

/**
 * The waiters of one queue. The queue of the writers also contains the waiters for the upgradable
 * lock.
 */
interface QueueMembers {
  byMember: { [member: string]: Waiting }
  endsAt: number
}

/** The clients that wait for one read-write lock. Times are in ms of the server's time. */
export interface ReadWriteQueue {
  readonly readers: QueueMembers
  readonly writers: QueueMembers
  /** When each place expires. May still contain places of an expired queue. */
  untilMs: { [member: string]: number }
  /** When all places have expired. */
  endsAt: number
  /**
   * When the current phase ends; 0 without a phase. In a phase, the readers that waited for the last
   * writer acquire the lock before the next writer.
   */
  phaseEndsAt: number
}

export function newReadWriteQueue(): ReadWriteQueue {
  const newMembers = () => ({ byMember: {}, endsAt: FOREVER })
  return {
    readers: newMembers(),
    writers: newMembers(),
    untilMs: {},
    endsAt: FOREVER,
    phaseEndsAt: 0,
  }
}

export function expireQueue(queue: ReadWriteQueue, now: number): void {
  for (const members of [queue.readers, queue.writers]) {
    if (now > members.endsAt) members.byMember = {}
  }
  if (now > queue.endsAt) queue.untilMs = {}
  if (now > queue.phaseEndsAt) queue.phaseEndsAt = 0
}

/** Returns when the queue expires, in ms of the server's time; 0 if the queue stores nothing. */
export function queueUntilMs({ readers, writers, untilMs, endsAt, phaseEndsAt }: ReadWriteQueue) {
  const ends = [readers, writers].map((one) => (isEmpty(one.byMember) ? 0 : one.endsAt))
  return Math.max(...ends, isEmpty(untilMs) ? 0 : endsAt, phaseEndsAt)
}

/** Returns the places that have not expired. The place with the longest wait is first. */
export function listPlaces(queue: ReadWriteQueue, of: 'read' | 'write', now: number): Waiting[] {
  return inOrder(queue, of).filter(({ member }) => counts(queue, member, now))
}

/** Returns the first place that has not expired. Removes the places before it. */
export function firstWaiting(
  queue: ReadWriteQueue,
  of: 'read' | 'write',
  now: number,
): Waiting | undefined {
  return inOrder(queue, of).find(({ member }) => {
    if (counts(queue, member, now)) return true
    delete membersOf(queue, of).byMember[member]
    delete queue.untilMs[member]
    return false
  })
}

function inOrder(queue: ReadWriteQueue, of: 'read' | 'write'): Waiting[] {
  const isBefore = (one: Waiting, other: Waiting) =>
    one.sinceUs - other.sinceUs || (one.member < other.member ? -1 : 1)
  return Object.values(membersOf(queue, of).byMember).sort(isBefore)
}

function counts({ untilMs }: ReadWriteQueue, member: string, now: number): boolean {
  return (untilMs[member] ?? 0) >= now
}

/**
 * Adds a place to its queue. If the place exists, it keeps its position.
 *
 * @param nowUs the server's time, in µs
 * @param aliveMs the time until the place expires, in milliseconds
 * @returns when the wait began, in µs of the server's time; {@link GOES_ON} for an upgrade
 */
export function enterPlace(
  queue: ReadWriteQueue,
  place: WaitingPlace,
  { nowUs, nowMs, aliveMs }: { nowUs: number; nowMs: number; aliveMs: number },
): number {
  const { member, wanted } = place
  const members = membersOf(queue, wanted)
  const fromUs = wanted === 'upgrade' ? GOES_ON : nowUs
  const sinceUs = members.byMember[member]?.sinceUs ?? fromUs
  const endsAt = nowMs + 2 * aliveMs
  members.byMember[member] = { ...place, sinceUs }
  queue.untilMs[member] = nowMs + aliveMs
  members.endsAt = sizeOf(members.byMember) > 1 ? Math.max(members.endsAt, endsAt) : endsAt
  queue.endsAt = sizeOf(queue.untilMs) > 1 ? Math.max(queue.endsAt, endsAt) : endsAt
  return sinceUs
}

/**
 * Removes the place from its queue. If no reader waits any more, also ends the phase.
 *
 * @returns true if the queue had the place
 */
export function leaveQueue(
  queue: ReadWriteQueue,
  { member, wanted }: Pick<WaitingPlace, 'member' | 'wanted'>,
): boolean {
  const { byMember } = membersOf(queue, wanted)
  if (byMember[member] === undefined) return false
  delete byMember[member]
  delete queue.untilMs[member]
  if (isEmpty(queue.readers.byMember)) queue.phaseEndsAt = 0
  return true
}

/** Returns the time until the place expires, in milliseconds. */
export function placeLeftMs({ untilMs }: ReadWriteQueue, member: string, now: number): number {
  return leftMs(untilMs[member] ?? now, now)
}

/**
 * True if a waiter in the writers' queue comes before a call for the read lock or the upgradable
 * lock.
 *
 * @param place the place of the call
 */
export function isShut(
  queue: ReadWriteQueue,
  { member, wanted }: WaitingPlace,
  now: number,
): boolean {
  const first = firstWaiting(queue, 'write', now)
  if (first === undefined) return false
  if (wanted === 'upgradable') return first.member !== member
  return first.wanted !== 'upgradable' && queue.phaseEndsAt === 0
}

function membersOf(queue: ReadWriteQueue, wanted: WaitingPlace['wanted']): QueueMembers {
  return wanted === 'read' ? queue.readers : queue.writers
}

/**
 * Returns the place for an attempt.
 *
 * @param client the id of the client; '' if the attempt does not wait
 * @param beside as in `ReadWriteAttempt`
 */
export function placeOf(client: string, owner: string, beside: string): WaitingPlace {
  const wanted = isUpgradable(owner) ? 'upgradable' : isWriter(owner) ? 'write' : 'read'
  if (client !== '' && beside !== '') {
    return { member: owner, client, wanted: isUpgradable(beside) ? 'upgrade' : wanted }
  }
  const isAside = client !== '' && wanted === 'upgradable'
  return { member: isAside ? sideId(client, 'upgradable') : client, client, wanted }
}
