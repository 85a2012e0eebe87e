import { type Clock, type Moment, systemClock } from '../../src/kit/clock.ts'

/** Both clocks go with Jest's fake timers, until a test sets one of them. */
export class TestClock implements Clock {
  readonly after = systemClock.after
  readonly every = systemClock.every
  readonly clear = systemClock.clear
  readonly nextTurn = systemClock.nextTurn
  #monotonic = 0
  #wall = 0

  now(): Moment {
    return { monotonic: this.monotonic(), wall: Date.now() + this.#wall }
  }

  monotonic(): number {
    return performance.now() + this.#monotonic
  }

  /** A person or NTP sets the wall clock. */
  step(ms: number): void {
    this.#wall += ms
  }

  /** The machine sleeps: timers and the monotonic clock stand still, the wall clock does not. */
  suspend(ms: number): void {
    this.#wall += ms
  }

  /** The event loop is blocked, or the process stopped: time goes by, and no timer runs. */
  block(ms: number): void {
    this.#monotonic += ms
    this.#wall += ms
  }

  /** Waits, and lets timers and promises run meanwhile. */
  async pass(ms: number): Promise<void> {
    await jest.advanceTimersByTimeAsync(ms)
  }
}
