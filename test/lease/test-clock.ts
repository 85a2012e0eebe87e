import { type Clock, type Moment, systemClock } from '../../src/kit/clock.ts'

/** Both clocks follow Jest's fake timers. A test can also move each clock. */
export class TestClock implements Clock {
  readonly after = systemClock.after
  readonly every = systemClock.every
  readonly clear = systemClock.clear
  #monotonic = 0
  #wall = 0
  /** The work that waits for `turn()`. Undefined while the event loop makes the turns. */
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

  /** From now on, the next turn of the event loop begins only with `turn()`. */
  stopTurns(): void {
    this.#turns = []
  }

  turn(): void {
    const works = this.#turns ?? []
    this.#turns = []
    for (const work of works) work()
  }

  /** From now on, the event loop makes the turns again. */
  startTurns(): void {
    this.turn()
    const works = this.#turns ?? []
    this.#turns = undefined
    for (const work of works) systemClock.nextTurn(work)
  }

  /** A person or NTP changes the wall clock. */
  step(ms: number): void {
    this.#wall += ms
  }

  /** The machine sleeps: the wall clock continues, but timers and the monotonic clock stand still. */
  suspend(ms: number): void {
    this.#wall += ms
  }

  /** The event loop is blocked, or the process is stopped. Both clocks continue, but no timer runs. */
  block(ms: number): void {
    this.#monotonic += ms
    this.#wall += ms
  }

  /** Waits, and lets timers and promises run meanwhile. */
  async pass(ms: number): Promise<void> {
    await jest.advanceTimersByTimeAsync(ms)
  }
}
