import { setImmediate } from 'node:timers'
import { outsideContexts } from './outside-contexts.ts'

/** A moment on both clocks, in milliseconds. */
export interface Moment {
  readonly monotonic: number
  readonly wall: number
}

export interface Timer {
  /** It is no reason to keep the process alive. */
  unref(): Timer
}

/**
 * Time as it passes for one client: whatever waits, or counts how long something takes, goes by it.
 *
 * Two clocks, since each lies in its own way: the monotonic one stands still while a machine is
 * suspended, the wall clock is stepped by NTP and by people.
 */
export interface Clock {
  now(): Moment
  /** The moment on the monotonic clock alone. */
  monotonic(): number
  /** Calls it once, after so many milliseconds. */
  after(ms: number, work: () => void): Timer
  /** Calls it again and again, each time after so many milliseconds, for nobody in particular. */
  every(ms: number, work: () => void): Timer
  clear(timer: Timer | undefined): void
  /** Calls it in a later turn of the event loop: what has arrived was read by then. */
  nextTurn(work: () => void): void
}

// The one that is real: fake timers of tests replace the other, and what has arrived is read all the same.
const nextTurn = setImmediate

/** The real time, or what tests have put in its place by then. */
export const systemClock: Clock = {
  now: () => ({ monotonic: performance.now(), wall: Date.now() }),
  monotonic: () => performance.now(),
  after: (ms, work) => setTimeout(work, ms),
  every: (ms, work) => outsideContexts(() => setInterval(work, ms)),
  clear: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
  nextTurn: (work) => void nextTurn(work),
}

/** The time that has passed on the worse of the two clocks, in milliseconds. */
export function elapsedMs(since: Moment, now: Moment): number {
  return Math.max(now.monotonic - since.monotonic, now.wall - since.wall)
}

/** How far the two clocks have come apart between two moments, in milliseconds. */
export function disagreementMs(since: Moment, now: Moment): number {
  return Math.abs(now.monotonic - since.monotonic - (now.wall - since.wall))
}

/** Resolves after so many milliseconds. */
export function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve))
}
