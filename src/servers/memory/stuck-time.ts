import { setTimeout } from 'node:timers'
import { outsideContexts } from '../../kit/outside-contexts.ts'
import { warn } from '../../kit/warning.ts'

/** A clock with virtual time: only `advance()` moves the time. */
interface StandingTime {
  /** The number of timers for which calls wait. Does not count timers after `unref()`. */
  readonly awaited: number
  /** The virtual milliseconds until the first of these timers is due. */
  readonly firstInMs: number
}

/**
 * The interval of the checks, in real milliseconds. A test runner gives up after a few seconds, and
 * the warning must come earlier.
 */
const LOOK_MS = 500

// Keeps the real function, because a test may replace the global function later.
const realTimeout = setTimeout

/** All objects of this class. `warnAll` checks them when the process has nothing else to do. */
const all = new Set<WeakRef<StuckTime>>()

/** Warns once if calls wait for virtual time and no code calls `advance()`. */
export class StuckTime {
  readonly #time: StandingTime
  #isChecking = false
  /** True if calls waited at the last check, and no code has called `advance()` since then. */
  #waited = false
  #hasWarned = false

  constructor(time: StandingTime) {
    this.#time = time
    if (all.size === 0) process.on('beforeExit', warnAll)
    all.add(new WeakRef(this))
  }

  /**
   * Called when a timer starts. Checks after {@link LOOK_MS} whether calls wait. Warns if calls waited
   * at two checks, and no code called `advance()` in between.
   */
  checkSoon(): void {
    if (this.#isChecking || this.#hasWarned) return
    this.#isChecking = true
    outsideContexts(() => realTimeout(() => this.#check(), LOOK_MS)).unref()
  }

  advanced(): void {
    this.#waited = false
  }

  /** Warns if calls wait now. Also called when the process has nothing else to do. */
  warn(): void {
    const { awaited, firstInMs } = this.#time
    if (awaited === 0 || this.#hasWarned) return
    this.#hasWarned = true
    const ms = Math.ceil(firstInMs)
    warn(
      'HOLDFAST_VIRTUAL_TIME',
      'Calls wait on a server in memory whose time stands still, and no code moves it. With `virtualTime` the test ' +
        `moves the time: \`await server.advance(ms)\`. The first of these calls continues after advance(${ms}). ` +
        'Start the call, advance, and then await the call.',
    )
  }

  #check(): void {
    this.#isChecking = false
    if (this.#time.awaited === 0) {
      this.#waited = false
      return
    }
    if (this.#waited) {
      this.warn()
      return
    }
    this.#waited = true
    this.checkSoon()
  }
}

function warnAll(): void {
  for (const one of all) {
    const stuck = one.deref()
    if (stuck === undefined) all.delete(one)
    else stuck.warn()
  }
}
