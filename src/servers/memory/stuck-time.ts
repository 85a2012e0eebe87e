import { setTimeout } from 'node:timers'
import { outsideContexts } from '../../kit/outside-contexts.ts'
import { warn } from '../../kit/warning.ts'

/** Time that only passes if somebody calls `advance()`. */
interface StandingTime {
  /** How many timers keep calls waiting; those that would keep no process alive do not count. */
  readonly awaited: number
  /** After which time the first of them goes off, in milliseconds. */
  readonly firstInMs: number
}

/** In real time, in milliseconds: a test runner gives up after a few seconds. */
const LOOK_MS = 500

// The real one: fake timers of tests replace the other.
const realTimeout = setTimeout

/** All of this process, for its end. */
const all = new Set<WeakRef<StuckTime>>()

/** Warns once if calls wait for virtual time that nobody lets pass: a forgotten `advance()`. */
export class StuckTime {
  readonly #time: StandingTime
  #isLooking = false
  /** Whether calls waited at the last look, and nobody has called `advance()` since. */
  #waited = false
  #isTold = false

  constructor(time: StandingTime) {
    this.#time = time
    if (all.size === 0) process.on('beforeExit', tellAll)
    all.add(new WeakRef(this))
  }

  /** Somebody may begin to wait. */
  look(): void {
    if (this.#isLooking || this.#isTold) return
    this.#isLooking = true
    outsideContexts(() => realTimeout(() => this.#look(), LOOK_MS)).unref()
  }

  /** Time passes. */
  advanced(): void {
    this.#waited = false
  }

  /** The process has nothing else to do. */
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
