import { type Clock, type Moment, systemClock } from '../../src/kit/clock.ts'

/** Both clocks go with Jest's fake timers, until a test sets one of them. */
export class TestClock implements Clock {
  readonly after = systemClock.after
  readonly every = systemClock.every
  readonly clear = systemClock.clear
  #monotonic = 0
  #wall = 0
  /** What waits for `turn()`; undefined while turns come by themselves. */
  #turns: (() => void)[] | undefined

  now(): Moment {
    return { monotonic: this.monotonic(), wall: Date.now() + this.#wall }
  }

  monotonic(): number {
    return performance.now() + this.#monotonic
  }

  nextTurn(work: () => void): void {
    if (this.#turns === undefined) systemClock.nextTurn(work)
    else this.#turns.push(work)
  }

  /** From now on, each further turn of the event loop begins with `turn()`. */
  stopTurns(): void {
    this.#turns = []
  }

  turn(): void {
    const works = this.#turns ?? []
    this.#turns = []
    for (const work of works) work()
  }

  /** From now on, turns come by themselves again. */
  startTurns(): void {
    this.turn()
    const works = this.#turns ?? []
    this.#turns = undefined
    for (const work of works) systemClock.nextTurn(work)
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
