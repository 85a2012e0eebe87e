import { type Clock, type Moment, systemClock, type Timer } from '../../kit/clock.ts'
import { StuckTime } from './stuck-time.ts'

/**
 * The monotonic time at the start, in milliseconds. It is above 0, as in a process that has run for
 * a while.
 */
const STARTED_AT_MS = 1_000

/**
 * Each reading of the monotonic clock adds this time, in milliseconds. So two readings differ, as
 * on a real clock.
 */
const STEP_MS = 1e-6

/** The shortest timer, in milliseconds, as in Node.js. */
const LEAST_MS = 1

/**
 * After this many turns of the event loop without activity, the clock assumes that all work waits
 * for time to pass.
 */
const QUIET_TURNS = 3

/**
 * `advance()` waits at its start and after each timer until all work is idle. Each of these waits lasts
 * for at most this many turns of the event loop.
 */
const MOST_TURNS = 100_000

class VirtualTimer implements Timer {
  dueAt: number
  isAwaited = true
  readonly everyMs: number | undefined
  readonly work: () => void

  constructor(dueAt: number, everyMs: number | undefined, work: () => void) {
    this.dueAt = dueAt
    this.everyMs = everyMs
    this.work = work
  }

  /** After `unref()`, `awaited` does not count this timer. A virtual timer never keeps a process alive. */
  unref(): this {
    this.isAwaited = false
    return this
  }
}

export class VirtualClock implements Clock {
  readonly #wallStartMs = Date.now()
  #elapsedMs = 0
  /** The timers that will run, in the order in which they were created. */
  readonly #timers = new Set<VirtualTimer>()
  /** Grows when code reads the time, starts a timer or waits for a turn. */
  #signs = 0
  #advancing: Promise<void> = Promise.resolve()
  readonly #stuck = new StuckTime(this)

  now(): Moment {
    const monotonic = this.monotonic()
    return { monotonic, wall: this.wall }
  }

  /** The wall clock, in milliseconds since 1970. */
  get wall(): number {
    return this.#wallStartMs + Math.floor(this.#elapsedMs)
  }

  get awaited(): number {
    return [...this.#timers].filter(({ isAwaited }) => isAwaited).length
  }

  get firstInMs(): number {
    const dueAt = [...this.#timers].flatMap((one) => (one.isAwaited ? one.dueAt : []))
    return Math.min(...dueAt) - this.#elapsedMs
  }

  monotonic(): number {
    this.#signs += 1
    this.#elapsedMs += STEP_MS
    return STARTED_AT_MS + this.#elapsedMs
  }

  after(ms: number, work: () => void): Timer {
    return this.#add(ms, undefined, work)
  }

  every(ms: number, work: () => void): Timer {
    return this.#add(ms, Math.max(ms, LEAST_MS), work)
  }

  clear(timer: Timer | undefined): void {
    this.#timers.delete(timer as VirtualTimer)
  }

  nextTurn(work: () => void): void {
    this.#signs += 1
    systemClock.nextTurn(() => {
      this.#signs += 1
      work()
    })
  }

  /**
   * Moves the time by `ms` milliseconds. Each timer that is due runs at its time, in order. Before
   * the next timer runs, the clock waits until the work of the previous timer seems to be done.
   */
  advance(ms: number): Promise<void> {
    this.#stuck.advanced()
    const advanced = this.#advancing.then(() => this.#advance(ms))
    this.#advancing = advanced.catch(() => {})
    return advanced
  }

  async #advance(ms: number): Promise<void> {
    await this.#untilIdle()
    const untilMs = this.#elapsedMs + ms
    for (let next = this.#next(untilMs); next !== undefined; next = this.#next(untilMs)) {
      this.#elapsedMs = Math.max(this.#elapsedMs, next.dueAt)
      if (next.everyMs === undefined) this.#timers.delete(next)
      else next.dueAt += next.everyMs
      next.work()
      await this.#untilIdle()
    }
    this.#elapsedMs = Math.max(this.#elapsedMs, untilMs)
  }

  #add(ms: number, everyMs: number | undefined, work: () => void): VirtualTimer {
    this.#signs += 1
    const dueAt = this.#elapsedMs + Math.max(ms, LEAST_MS)
    const timer = new VirtualTimer(dueAt, everyMs, work)
    this.#timers.add(timer)
    this.#stuck.checkSoon()
    return timer
  }

  #next(untilMs: number): VirtualTimer | undefined {
    let first: VirtualTimer | undefined
    for (const timer of this.#timers) {
      if (timer.dueAt <= untilMs && timer.dueAt < (first?.dueAt ?? Infinity)) first = timer
    }
    return first
  }

  /** Resolves when all work waits for time to pass. */
  async #untilIdle(): Promise<void> {
    let signs = -1
    for (let turns = 0, quiet = 0; quiet < QUIET_TURNS && turns < MOST_TURNS; turns++) {
      quiet = signs === this.#signs ? quiet + 1 : 0
      signs = this.#signs
      await new Promise<void>((resolve) => systemClock.nextTurn(resolve))
    }
  }
}
