import { setImmediate } from 'node:timers'
import { outsideContexts } from './outside-contexts.ts'

/** A moment on both clocks, in milliseconds. */
export interface Moment {
  readonly monotonic: number
  readonly wall: number
}

export interface Timer {
  /** From now on, the timer does not keep the process alive. */
  unref(): Timer
}

/**
 * The clocks of one client, for all its waits and measurements. There are two clocks, because each
 * can be wrong. The monotonic clock stops while a machine is suspended. NTP or an operator can
 * change the wall clock.
 */
export interface Clock {
  now(): Moment
  /** The monotonic time of `now()`. */
  monotonic(): number
  /** Calls `work` once, after `ms` milliseconds. */
  after(ms: number, work: () => void): Timer
  /** Calls `work` every `ms` milliseconds, in no async context of a caller. */
  every(ms: number, work: () => void): Timer
  clear(timer: Timer | undefined): void
  /**
   * Calls `work` in a later turn of the event loop, when the data that has arrived has been read.
   */
  nextTurn(work: () => void): void
}

// The real function is stored here. Fake timers of tests replace the global function, but the
// reading of data does not follow fake timers.
const nextTurn = setImmediate

/** The real time, or the fake timers of a test. */
export const systemClock: Clock = {
  now: () => ({ monotonic: performance.now(), wall: Date.now() }),
  monotonic: () => performance.now(),
  after: (ms, work) => setTimeout(work, ms),
  every: (ms, work) => outsideContexts(() => setInterval(work, ms)),
  clear: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
  nextTurn: (work) => void nextTurn(work),
}

/** The time that has passed on the faster of the two clocks, in milliseconds. */
export function elapsedMs(since: Moment, now: Moment): number {
  return Math.max(now.monotonic - since.monotonic, now.wall - since.wall)
}

/** How much more one clock has advanced than the other between two moments, in milliseconds. */
export function disagreementMs(since: Moment, now: Moment): number {
  return Math.abs(now.monotonic - since.monotonic - (now.wall - since.wall))
}

export function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve))
}
