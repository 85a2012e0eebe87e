import { systemClock } from '../kit/clock.ts'
import type { Granted, Held, Released } from './answers.ts'
import type { Reply } from './reply.ts'
import type { Attempt, Ending } from './requests.ts'
import type { Subscription } from './subscription.ts'

/** The permits of one semaphore on a server, for one client. */
export interface RemotePool {
  /**
   * Acquires the number of permits at the end of the owner name. If the attempt fails, the client
   * may wait, behind all clients that have waited longer.
   */
  acquire(attempt: PermitAttempt, reply: Reply<PermitAnswer>): void
  /**
   * Releases all permits of the owner.
   *
   * @param isLast true if no other call of this client waits
   */
  release(ending: Ending, isLast: boolean, reply: Reply<Released>): void
  /**
   * Removes the place of this client, because no call of it waits any more. If the request is lost,
   * the place expires.
   *
   * @param isLast checked before a request is sent: false if a call of this client waits again
   */
  leave(isLast: () => boolean): void
  /** As in `RemoteLock`. */
  abandon(owner: string, untilMs: number, leaseMs: number, isLast: () => boolean): void
  /** As in `RemoteLock`, but calls `onWake` only with the messages that {@link isMeant} accepts. */
  listen(onWake: (message?: string) => void): Subscription
}

export interface PermitAttempt extends Attempt {
  /** True if its client waits after a refusal. */
  readonly waits: boolean
  /** True if no other call of its client waits. */
  readonly isLast: boolean
  /** When the call began to wait, on the clock of its client. */
  readonly beganAt: number
  /** When the client's wait began, from an earlier answer; '' if there is none. */
  readonly since: string
  /**
   * The total number of permits. The server stores it if no client has set a number. Left out if
   * unknown.
   */
  readonly limit?: number | undefined
}

/** How long a call has waited, in whole milliseconds. */
export function waitedMsFrom(beganAt: number, clock = systemClock): number {
  return Math.round(clock.monotonic() - beganAt)
}

/** A refusal also has `since` if the client has a place among the waiters. */
export type PermitAnswer = PermitsGranted | PermitsHeld | TooMany

interface PermitsGranted extends Granted {
  /** The total number of permits, if it differs from the attempt's limit. */
  readonly inAll?: number
}

interface PermitsHeld extends Held {
  readonly seen: PermitsSeen
}

/** The state of the semaphore in a refusal. */
export interface PermitsSeen {
  /** False if no client has set the number of permits. */
  readonly isSet: boolean
  /** How many permits are available; below 0 if fewer are set than are taken. */
  readonly available: number
  /** How many permits are taken; null for permits without leases, which are not counted. */
  readonly taken: number | null
  /**
   * For an attempt that waits: some of the owners, and how long each has held its permits, in
   * milliseconds.
   */
  readonly holders: readonly { readonly owner: string; readonly ageMs: number }[]
}

/** The call wants more permits than there are in total, so waiting is pointless. */
export interface TooMany {
  readonly kind: 'tooMany'
  /** Below 0 if fewer permits are set than are taken. */
  readonly available: number
  readonly taken: number
}

/** The number of permits of a hold, with which its owner name ends. */
export function permitsOf(owner: string): number {
  return Number(owner.slice(owner.lastIndexOf(':') + 1))
}

/**
 * True if a message is meant for a waiting client. Its own id says that it is next. A number comes
 * from Redisson, which tells all waiters how many permits are available. A number that begins with
 * 0 is Holdfast's message to Redisson.
 */
export function isMeant(message: string, clientId: string): boolean {
  return message === clientId || /^-?[1-9]\d*$/.test(message)
}
