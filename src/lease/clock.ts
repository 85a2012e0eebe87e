/** A moment on both clocks, in milliseconds. */
export interface Moment {
  readonly monotonic: number
  readonly wall: number
}

/**
 * Two clocks, since each lies in its own way: the monotonic one stands still while a machine is
 * suspended, the wall clock is stepped by NTP and by people.
 */
export interface Clock {
  now(): Moment
}

export const systemClock: Clock = {
  now: () => ({ monotonic: performance.now(), wall: Date.now() }),
}

/** The time that has passed on the worse of the two clocks, in milliseconds. */
export function elapsedMs(since: Moment, now: Moment): number {
  return Math.max(now.monotonic - since.monotonic, now.wall - since.wall)
}

/** How far the two clocks have come apart between two moments, in milliseconds. */
export function disagreementMs(since: Moment, now: Moment): number {
  return Math.abs(now.monotonic - since.monotonic - (now.wall - since.wall))
}
