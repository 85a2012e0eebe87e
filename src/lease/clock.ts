import type { Moment } from '../kit/clock.ts'

export { type Clock, type Moment, systemClock, type Timer } from '../kit/clock.ts'

/** The time that has passed on the worse of the two clocks, in milliseconds. */
export function elapsedMs(since: Moment, now: Moment): number {
  return Math.max(now.monotonic - since.monotonic, now.wall - since.wall)
}

/** How far the two clocks have come apart between two moments, in milliseconds. */
export function disagreementMs(since: Moment, now: Moment): number {
  return Math.abs(now.monotonic - since.monotonic - (now.wall - since.wall))
}
