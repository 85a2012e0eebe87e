import { setImmediate } from 'node:timers'
import { outsideContexts } from './outside-contexts.ts'

/** A moment on both clocks, in milliseconds. Only differences of monotonic times have a meaning. */
export interface Moment {
  readonly monotonic: number
  readonly wall: number
}

export interface Timer {
  /** From now on, the timer does not keep the process alive. */
  unref(): Timer
}

/**
 * The clocks and timers of one client. There are two clocks, because each clock can be wrong. The
 * monotonic clock stops while a machine is suspended. NTP or an operator can change the wall clock.
 */
export interface Clock {
  now(): Moment
  /** The monotonic time of `now()`, in milliseconds. */
  monotonic(): number
  after(ms: number, work: () => void): Timer
  /** Calls `work` every `ms` milliseconds, outside the async context of the caller. */
  every(ms: number, work: () => void): Timer
  clear(timer: Timer | undefined): void
  /** Calls `work` in a later turn of the event loop, after the data that has arrived was read. */
  nextTurn(work: () => void): void
}

// Fake timers of tests replace the global `setImmediate`, but do not control when data is read. So
// this constant keeps the real function.
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

/** The elapsed milliseconds on the clock that has advanced more. */
export function elapsedMs(since: Moment, now: Moment): number {
  return Math.max(now.monotonic - since.monotonic, now.wall - since.wall)
}

/** How many milliseconds more one clock has advanced than the other clock between two moments. */
export function disagreementMs(since: Moment, now: Moment): number {
  return Math.abs(now.monotonic - since.monotonic - (now.wall - since.wall))
}

export function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve))
}
