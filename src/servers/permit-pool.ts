import { systemClock } from '../kit/clock.ts'
import type { Granted, Held, Released } from './answers.ts'
import type { Hint } from './hint.ts'
import type { Reply } from './reply.ts'
import type { Attempt, LoweredHold } from './requests.ts'
import type { Subscription } from './subscription.ts'

/** The permits of one semaphore, as one client uses them. */
export interface RemotePool {
  /**
   * Acquires permits. After a refusal, a client that waits gets a place in the queue. Clients that
   * have waited longer come first.
   */
  acquire(attempt: PermitAttempt, reply: Reply<PermitAnswer>): void
  /**
   * Releases all permits of the owner.
   *
   * @param isLast true if no other call of this client waits for permits. The client then loses its
   * place in the queue
   */
  giveBack(ending: LoweredHold, isLast: boolean, reply: Reply<Released>): void
  /**
   * Does what `giveBack` does, and then acquires permits for a waiter of this client, in one request.
   * The waiter gets the permits only if its client is next. Undefined for a semaphore without leases,
   * because a release of its permits names no owner.
   */
  handOver?(
    ending: LoweredHold,
    attempt: PermitAttempt,
    released: Reply<Released>,
    acquired: Reply<PermitAnswer>,
  ): void
  /**
   * Removes the client's place in the queue of waiting clients. If the request is lost, the place
   * expires by itself.
   *
   * @param isLast returns false if a call of this client waits again. Then the client sends no
   * request
   */
  stopWaiting(isLast: () => boolean): void
  /**
   * Releases all permits of the owner in the background, as `RemoteLock.abandon` does. For
   * `isLast`, see `stopWaiting`.
   */
  abandon(owner: string, untilMs: number, leaseMs: number, isLast: () => boolean): void
  /** Calls `onHint` with each hint about the semaphore, but not with hints for other clients. */
  listen(onHint: (hint: Hint) => void): Subscription
}

export interface PermitAttempt extends Attempt {
  readonly permits: number
  /** True if the client keeps a place in the queue after a refusal. */
  readonly waits: boolean
  /**
   * True if no other call of the client waits for permits. A grant then removes the client's place
   * in the queue.
   */
  readonly isLast: boolean
  /** When the call began to wait, in ms on the client's monotonic clock. */
  readonly beganAt: number
  /** The `waitId` of the last refusal; '' if there was no refusal. */
  readonly waitId: string
  /**
   * If no client has set the total number of permits, the server sets this number. Undefined sets
   * no number.
   */
  readonly limit?: number | undefined
  /**
   * The next waiting call of the client. A grant gives the client's place to this call. Undefined if
   * no other call waits.
   */
  readonly behind?: WaitingCall | undefined
}

/** A call that waits for permits. */
interface WaitingCall {
  readonly permits: number
  /** When the call began to wait, in ms on the client's monotonic clock. */
  readonly beganAt: number
}

/**
 * Returns how long a call has waited, in whole milliseconds.
 *
 * @param beganAt when the call began to wait, in ms on the monotonic clock
 */
export function waitedMsFrom(beganAt: number, clock = systemClock): number {
  return Math.round(clock.monotonic() - beganAt)
}

/**
 * The answer to an attempt. In a refusal, `waitId` is set if the client has a place in the queue.
 */
export type PermitAnswer = PermitsGranted | PermitsHeld | TooMany

interface PermitsGranted extends Granted {
  /**
   * The total number of permits on the server. Set only if it differs from the attempt's `limit`.
   */
  readonly inAll?: number
  /**
   * The place that the attempt's `behind` got. Undefined if there is no such call, or if this call
   * should send its request at once.
   */
  readonly behind?: PlaceBehind
}

/** The place of a call in the queue, from the grant of an earlier call of the same client. */
export interface PlaceBehind extends Pick<PermitsHeld, 'ttlMs' | 'seen'> {
  readonly waitId: string
  /** True if no other client is before this client in the queue. */
  readonly isFirst: boolean
}

export interface PermitsHeld extends Held {
  readonly seen: PermitsSeen
}

/** The state of the semaphore at the time of a refusal. */
export interface PermitsSeen {
  /** False if no client has set the number of permits. */
  readonly isSet: boolean
  /**
   * The number of available permits. The number is below 0 if permits were removed while clients
   * used them.
   */
  readonly available: number
  /** The number of taken permits; null for a semaphore without leases. */
  readonly taken: number | null
  /** Some of the owners that hold permits. Empty without leases, and if the attempt does not wait. */
  readonly holders: readonly KnownTaker[]
}

export interface KnownTaker {
  readonly owner: string
  /** How many permits the owner acquired. */
  readonly permits: number
  /** How long the owner has held the permits, in milliseconds. */
  readonly ageMs: number
}

/** The call wants more permits than exist in total, so a wait is pointless. */
export interface TooMany {
  readonly kind: 'tooMany'
  /**
   * The number of available permits. The number is below 0 if permits were removed while clients
   * used them.
   */
  readonly available: number
  readonly taken: number
}
