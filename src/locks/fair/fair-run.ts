import type { Moment } from '../../kit/clock.ts'
import type { Hold } from '../../lease/hold.ts'
import type { PendingConfirmation } from '../../local/passed-on.ts'
import { ALIVE_MS, CLAIM_MS, MOST_IN_RUN } from '../../servers/fair-server.ts'
import type { AcquireRequest, Waiter } from '../../waiting/waiter.ts'
import { type KnownGrant, LEAST_LEFT, type Place } from './place.ts'
import type { Places } from './places.ts'

/**
 * The shortest lease in a run, in milliseconds. The watchdog renews a lease when a third of it has
 * passed. So if the process freezes, its places in the queue expire before the lease, and the served
 * places cause no delay.
 */
const LEAST_LEASE_MS = 1.5 * ALIVE_MS

const NONE: readonly string[] = []

/**
 * A run: consecutive places of this client at the head of the queue. A grant to one owner of this
 * client lists the run behind this owner. The client then passes the lock on along the run without
 * a request.
 *
 * All holds of a run have the owner id of the grant, and tokens that the grant has reserved. A place
 * is served if the client has passed the lock on to its waiter. The server keeps all places of the
 * run until the next release. So the waiters keep their order if the lock is lost.
 */
export class FairRun {
  // Created when it is first needed, because most locks have no run.
  #served: Set<string> | undefined
  #lastToken = 0
  #owners = NONE
  #at = 0
  #confirmSentAt: Moment | undefined

  /** The owner ids that were served in a run, and whose places the server may still have. */
  get served(): readonly string[] {
    return this.#served === undefined ? NONE : [...this.#served]
  }

  /** Called when the client passes the lock on to this place. */
  addServed({ ownerId }: Place): void {
    this.#served ??= new Set()
    this.#served.add(ownerId)
  }

  /** Called when the server has removed the places of these owner ids. */
  removeServed(owners: readonly string[]): void {
    for (const owner of owners) this.#served?.delete(owner)
  }

  /**
   * Called when a waiter of this client uses a grant. The run of an earlier grant then ends.
   *
   * @param first the request of this waiter. If `mayRun` is false for this request, no run begins
   * @returns how many tokens below the token of the grant belong to the run
   */
  start({ token, run }: KnownGrant, first: AcquireRequest): number {
    this.#lastToken = token
    this.#owners = mayRun(first) ? run : NONE
    this.#at = 0
    this.#confirmSentAt = undefined
    return this.#owners.length
  }

  /** Called when the lock may be free. All further waiters then need a grant of the server. */
  stop(): void {
    this.#owners = NONE
  }

  /** Called when the client sends the confirmation of the grant. */
  confirmationSent(sentAt: Moment): void {
    this.#confirmSentAt = sentAt
  }

  /** Called when the confirmation that was sent at this moment has an answer, or has failed. */
  confirmationEnded(sentAt: Moment): void {
    if (this.#confirmSentAt === sentAt) this.#confirmSentAt = undefined
  }

  /** The confirmation of the grant; undefined if none is in flight. */
  get confirmation(): PendingConfirmation | undefined {
    const sentAt = this.#confirmSentAt
    return sentAt && { sentAt, leastLeftMs: CLAIM_MS * LEAST_LEFT }
  }

  /**
   * How many waiters this client can serve without a request after the next grant.
   *
   * @param places the places of this client
   */
  longest(places: Places): number {
    const [first] = places
    if (first === undefined || !mayRun(first.waiter.request)) return 0
    return Math.min(places.size - 1, MOST_IN_RUN)
  }

  /**
   * Returns the next place of the run. Undefined if the hold is not of this run, if the run has ended,
   * or if the next waiter needs a grant of the server.
   *
   * @param places the places of this client
   */
  next({ lastToken, owner }: Hold, places: Places): Place | undefined {
    // Other clients recognize the term of a leader by its owner id. So each term needs a new grant.
    if (lastToken !== this.#lastToken || owner.label !== undefined) return undefined
    for (; this.#at < this.#owners.length; this.#at++) {
      const place = places.get(this.#owners[this.#at] as string)
      // The waiter has left the queue, or leaves it now.
      if (place === undefined || place.waiter.settled) continue
      return isWaiting(place.waiter) && mayRun(place.waiter.request) ? place : undefined
    }
    return undefined
  }
}

/** True if the waiter waits for its grant, and none of its requests can still run on the server. */
function isWaiting({ wakeEvent, asking, doubtUntilMs }: Waiter): boolean {
  return wakeEvent.isAwaited && !asking && doubtUntilMs === 0
}

function mayRun({ owner, lease, leaseMs }: AcquireRequest): boolean {
  return lease?.watched === true && leaseMs >= LEAST_LEASE_MS && owner.label === undefined
}
