import { setImmediate } from 'node:timers'
import { outsideContexts } from './outside-contexts.ts'

/** A moment on both clocks, in milliseconds. */
export interface Moment {
  readonly monotonic: number
  readonly wall: number
}

export interface Timer {
  /** The timer no longer keeps the process alive. */
  unref(): Timer
}

/**
 * The time of one client, for all its waits and measurements. There are two clocks, because each
 * can be wrong. The monotonic clock stands still while a machine is suspended. NTP and people
 * change the wall clock.
 */
export interface Clock {
  now(): Moment
  /** The monotonic part of `now()`. */
  monotonic(): number
  /** Calls `work` once, after `ms` milliseconds. */
  after(ms: number, work: () => void): Timer
  /** Calls `work` every `ms` milliseconds, outside the async contexts of callers. */
  every(ms: number, work: () => void): Timer
  clear(timer: Timer | undefined): void
  /** Calls `work` in a later turn of the event loop, after data that has arrived was read. */
  nextTurn(work: () => void): void
}

// Kept here, because fake timers of tests replace the global function but not the reading of data.
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

/** How far the two clocks drifted apart between two moments, in milliseconds. */
export function disagreementMs(since: Moment, now: Moment): number {
  return Math.abs(now.monotonic - since.monotonic - (now.wall - since.wall))
}

export function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve))
}
