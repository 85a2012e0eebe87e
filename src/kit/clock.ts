import { setImmediate } from 'node:timers'
import { outsideContexts } from './outside-contexts.ts'

/**
 * A moment on both clocks, in milliseconds. `wall` counts from 1970. `monotonic` has no defined
 * beginning, so only differences have a meaning.
 */
export interface Moment {
  readonly monotonic: number
  readonly wall: number
}

export interface Timer {
  /** Lets the process end even while the timer runs. */
  unref(): Timer
}

/**
 * The clocks and timers of one client. There are two clocks, because each of them can be wrong. The
 * monotonic clock stops while a machine is suspended. NTP or an operator can change the wall clock.
 */
export interface Clock {
  now(): Moment
  /** The time on the monotonic clock, in milliseconds. */
  monotonic(): number
  after(ms: number, work: () => void): Timer
  /** Calls `work` every `ms` milliseconds, outside the async context of the caller. */
  every(ms: number, work: () => void): Timer
  clear(timer: Timer | undefined): void
  /**
   * Calls `work` in a later turn of the event loop. Before this turn, Node.js reads the data that
   * has arrived.
   */
  nextTurn(work: () => void): void
}

// Fake timers of tests replace the global `setImmediate`, but Node.js still reads data in real
// turns. So this constant keeps the real function.
const nextTurn = setImmediate

/** The real clocks and timers, or the functions with which a test replaces them. */
export const systemClock: Clock = {
  now: () => ({ monotonic: performance.now(), wall: Date.now() }),
  monotonic: () => performance.now(),
  after: (ms, work) => setTimeout(work, ms),
  every: (ms, work) => outsideContexts(() => setInterval(work, ms)),
  clear: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
  nextTurn: (work) => void nextTurn(work),
}

/**
 * Returns the time from `since` to `now`, in milliseconds. If the clocks measured different
 * times, returns the longer time.
 */
export function elapsedMs(since: Moment, now: Moment): number {
  return Math.max(now.monotonic - since.monotonic, now.wall - since.wall)
}

/**
 * Returns the difference between the times that the two clocks measured from `since` to `now`, in
 * milliseconds.
 */
export function disagreementMs(since: Moment, now: Moment): number {
  return Math.abs(now.monotonic - since.monotonic - (now.wall - since.wall))
}

export function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve))
}
