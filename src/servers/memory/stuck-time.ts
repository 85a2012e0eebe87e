import { setTimeout } from 'node:timers'
import { outsideContexts } from '../../kit/outside-contexts.ts'
import { warn } from '../../kit/warning.ts'

/** A clock that only calls of `advance()` move. */
interface StandingTime {
  /**
   * How many timers keep calls waiting. Timers that would not keep a process alive do not count.
   */
  readonly awaited: number
  /** When the first of these timers is due, in milliseconds from now. */
  readonly firstInMs: number
}

/**
 * The interval of the checks, in real milliseconds. A test runner gives up after a few seconds, so
 * the warning must come earlier.
 */
const LOOK_MS = 500

// Kept here, because fake timers of tests may replace the global function later.
const realTimeout = setTimeout

/** All instances of this process, for the check when it ends. */
const all = new Set<WeakRef<StuckTime>>()

/** Warns once if calls wait for virtual time that no code moves: a forgotten `advance()`. */
export class StuckTime {
  readonly #time: StandingTime
  #isLooking = false
  /** True if calls waited at the last check and no code has called `advance()` since. */
  #waited = false
  #isTold = false

  constructor(time: StandingTime) {
    this.#time = time
    if (all.size === 0) process.on('beforeExit', tellAll)
    all.add(new WeakRef(this))
  }

  /** Called when a call may begin to wait. */
  look(): void {
    if (this.#isLooking || this.#isTold) return
    this.#isLooking = true
    outsideContexts(() => realTimeout(() => this.#look(), LOOK_MS)).unref()
  }

  /** Called by `advance()`. */
  advanced(): void {
    this.#waited = false
  }

  /** Warns if calls wait. Also called when the process has nothing else to do. */
  tell(): void {
    const { awaited, firstInMs } = this.#time
    if (awaited === 0 || this.#isTold) return
    this.#isTold = true
    const ms = Math.ceil(firstInMs)
    warn(
      'HOLDFAST_VIRTUAL_TIME',
      'Calls wait on a server in memory whose time stands still, and no code moves it. With `virtualTime` the test ' +
        `moves the time: \`await server.advance(ms)\`. The first of these calls continues after advance(${ms}). ` +
        'Start the call, advance, and then await the call.',
    )
  }

  #look(): void {
    this.#isLooking = false
    if (this.#time.awaited === 0) return
    if (this.#waited) {
      this.tell()
      return
    }
    this.#waited = true
    this.look()
  }
}

function tellAll(): void {
  for (const one of all) {
    const stuck = one.deref()
    if (stuck === undefined) all.delete(one)
    else stuck.tell()
  }
}
