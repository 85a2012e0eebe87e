import { systemClock } from '../kit/clock.ts'
import type { Granted, Held, Released } from './answers.ts'
import type { Reply } from './reply.ts'
import type { Attempt, Ending } from './requests.ts'
import type { Subscription } from './subscription.ts'

/** Permits that are taken and given back, at their place: those of one semaphore, as one client sees it. */
export interface RemotePool {
  /** Takes as many as the owner's name ends with, or waits for that, after all who have waited for longer. */
  acquire(attempt: PermitAttempt, reply: Reply<PermitAnswer>): void
  /**
   * Gives back all that the owner took.
   *
   * @param isLast whether nobody of this client waits any more
   */
  release(ending: Ending, isLast: boolean, reply: Reply<Released>): void
  /**
   * Nobody of this client waits any more. Where that is not heard its place ends by itself.
   *
   * @param isLast whether that is so yet, should it have to be said again
   */
  leave(isLast: () => boolean): void
  /** As with `RemoteLock`. */
  abandon(owner: string, untilMs: number, leaseMs: number, isLast: () => boolean): void
  /** As with `RemoteLock`: calls `onWake` with the messages of {@link isMeant}. */
  listen(onWake: (message?: string) => void): Subscription
}

export interface PermitAttempt extends Attempt {
  /** Whether its client waits where it is refused. */
  readonly waits: boolean
  /** Whether nobody else of its client waits. */
  readonly isLast: boolean
  /** When it began to wait, on the clock of its client: until it is sent it waits on. */
  readonly beganAt: number
  /** Since when it waits, as the place has told it; '' where it has not. */
  readonly since: string
  /** How many permits there are to be in all, which is set if nobody has set it; left out where that is not known. */
  readonly limit?: number | undefined
}

/** For how long it has waited, in whole milliseconds. */
export function waitedMsFrom(beganAt: number, clock = systemClock): number {
  return Math.round(clock.monotonic() - beganAt)
}

/** Where it is held: since when the client has its place among those who wait, if it does. */
export type PermitAnswer = PermitsGranted | PermitsHeld | TooMany

interface PermitsGranted extends Granted {
  /** How many permits there are in all, if that is not the limit of the attempt. */
  readonly inAll?: number
}

interface PermitsHeld extends Held {
  readonly seen: PermitsSeen
}

/** What a refused attempt is told of the semaphore. */
export interface PermitsSeen {
  /** False if nobody has set how many permits there are. */
  readonly isSet: boolean
  /** How many are available; below 0 if fewer were set than are taken. */
  readonly available: number
  /** How many are taken; null for permits without leases, of which nobody knows. */
  readonly taken: number | null
  /** Some of the owners, for an attempt that waits, and for how long each has had its permits, in milliseconds. */
  readonly holders: readonly { readonly owner: string; readonly ageMs: number }[]
}

/** More are wanted than there are in all, and so for ever. */
export interface TooMany {
  readonly kind: 'tooMany'
  /** Below 0 where fewer were set than are taken. */
  readonly available: number
  readonly taken: number
}

/** How many permits a hold has, as its name says. */
export function permitsOf(owner: string): number {
  return Number(owner.slice(owner.lastIndexOf(':') + 1))
}

/**
 * Whether a message is for a client that waits: its own id, by which it is told that it is next; or by a client
 * of Redisson, which tells all of them how many permits there are. What ours tell Redisson's begins with 0.
 */
export function isMeant(message: string, clientId: string): boolean {
  return message === clientId || /^-?[1-9]\d*$/.test(message)
}
