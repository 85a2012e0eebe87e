import type { QueueEntry } from '../facts.ts'
import { clientOf } from '../owner-id.ts'
import { FOREVER } from '../record-store.ts'
import { sinceMs } from './moments.ts'
import { isEmpty } from './plain-data.ts'

/** A client that has places in the queue. */
export interface ClientMark {
  /** When the client's places expire, in milliseconds of the server's time. */
  readonly untilMs: number
  /** True if the client listened to its inbox (the channel of its grants) when the server checked. */
  readonly seen: boolean
  readonly label: string
}

/** The waiters of one fair lock, and when the places of each client expire. */
export interface LockQueue {
  /** The owners that wait, sorted by ticket, and by owner if tickets are equal. */
  order: string[]
  /** The ticket of each owner: when the owner joined the queue, in µs of the server's time. */
  tickets: { [owner: string]: number }
  marks: { [client: string]: ClientMark }
  /** The claim windows that are shorter than `CLAIM_MS`, in milliseconds, by owner. */
  claims: { [owner: string]: number }
  endsAt: number
  marksEndAt: number
}

export function newLockQueue(): LockQueue {
  return {
    order: [],
    tickets: {},
    marks: {},
    claims: {},
    endsAt: FOREVER,
    marksEndAt: FOREVER,
  }
}

/** Deletes all parts that have expired. */
export function expireLockQueue(queue: LockQueue, now: number): void {
  if (now > queue.endsAt) Object.assign(queue, { order: [], tickets: {}, endsAt: FOREVER })
  if (now > queue.marksEndAt) dropMarks(queue)
}

/** Returns when the queue expires, in ms of the server's time; 0 if the queue stores nothing. */
export function lockQueueUntilMs({ order, marks, claims, endsAt, marksEndAt }: LockQueue): number {
  const hasMarks = !isEmpty(marks) || !isEmpty(claims)
  return Math.max(order.length > 0 ? endsAt : 0, hasMarks ? marksEndAt : 0)
}

/** @returns true if the owner was not in the queue before */
export function addToQueue({ order, tickets }: LockQueue, owner: string, ticket: number): boolean {
  if (tickets[owner] !== undefined) return false
  let at = order.length
  // The search begins at the end, because a new owner usually belongs there.
  while (at > 0 && isBefore(owner, ticket, order[at - 1] as string, tickets)) at -= 1
  order.splice(at, 0, owner)
  tickets[owner] = ticket
  return true
}

function isBefore(
  owner: string,
  ticket: number,
  other: string,
  tickets: LockQueue['tickets'],
): boolean {
  const otherTicket = tickets[other] as number
  return ticket < otherTicket || (ticket === otherTicket && owner < other)
}

export function removeFromQueue(queue: LockQueue, owner: string): void {
  delete queue.claims[owner]
  if (queue.tickets[owner] === undefined) return
  delete queue.tickets[owner]
  queue.order.splice(queue.order.indexOf(owner), 1)
  if (queue.order.length === 0) queue.endsAt = FOREVER
}

/**
 * Keeps the places of a client until `mark.untilMs`. Also removes the expired marks of other
 * clients, and the claim windows of owners that left the queue.
 */
export function setMark(queue: LockQueue, client: string, mark: ClientMark, now: number): void {
  queue.marks[client] = mark
  for (const [other, { untilMs }] of Object.entries(queue.marks)) {
    if (untilMs < now) delete queue.marks[other]
  }
  for (const owner of Object.keys(queue.claims)) {
    if (queue.tickets[owner] === undefined) delete queue.claims[owner]
  }
}

/**
 * Deletes the marks of all clients, and all claim windows. Called when the queue is empty, or when
 * all marks have expired.
 */
export function dropMarks(queue: LockQueue): void {
  Object.assign(queue, { marks: {}, claims: {}, marksEndAt: FOREVER })
}

/** @param most the largest number of waiters to list */
export function queueEntries(queue: LockQueue, most: number, now: number): QueueEntry[] {
  return queue.order.slice(0, most).map((owner) => {
    const mark = queue.marks[clientOf(owner)]
    const isAlive = mark !== undefined && mark.untilMs >= now
    const waitedMs = sinceMs(queue.tickets[owner] as number, now)
    return { owner, process: isAlive ? mark.label : null, waitedMs }
  })
}
