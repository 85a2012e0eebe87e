import type { Clock, Moment, Timer } from '../kit/clock.ts'
import { type Linked, LinkedList } from '../kit/linked-list.ts'
import { Recheck } from './recheck.ts'
import { validityMs } from './validity.ts'

interface Renewed<H extends Renewed<H>> extends Linked<H> {
  readonly limitAt: number
  /** The hold that has the lock now. */
  readonly current: H
  upToLimit(leaseMs: number, at: Moment): number
  remainingMonotonicMs(): number
}

/**
 * Receives the ticks, and sends the requests for the holds. The watchdog implements this interface.
 */
interface TimerEvents<H extends Renewed<H>> {
  /** @param dueAt when the tick was due, on the monotonic clock */
  tick(timer: RenewalTimer<H>, dueAt: number): void
  verify(holds: readonly H[]): void
}

/**
 * The timer of all holds whose renewed leases have the same length. The timer ticks after every third
 * of this length.
 */
export class RenewalTimer<H extends Renewed<H>> {
  readonly leaseMs: number
  /** The holds. The hold whose last renewal is the oldest is the first. */
  readonly holds = new LinkedList<H>()
  /** Checks holds again soon if the last request for them failed. */
  readonly unheard: Recheck<H>
  readonly #clock: Clock
  readonly #host: TimerEvents<H>
  /** The number of rounds. Each round renews all holds. A new round replaces the unsent rest of the previous round. */
  round = 0
  #ticks: Timer | undefined
  #dueAt = 0

  constructor(leaseMs: number, clock: Clock, host: TimerEvents<H>) {
    this.leaseMs = leaseMs
    this.unheard = new Recheck(Math.min(leaseMs / 10, 1_000), clock, (holds) => host.verify(holds))
    this.#clock = clock
    this.#host = host
  }

  /**
   * Yields groups of these holds, each with the lease to request in milliseconds. Leaves out the
   * holds of other timers. A hold near its limit requests only the time until the limit. If the
   * present lease already lasts until the limit, the hold requests a lease of 0, which only checks
   * the hold.
   */
  *wants(some: readonly H[]): Iterable<[holds: readonly H[], leaseMs: number]> {
    const now = this.#clock.now()
    const whole: H[] = []
    const nearLimit: H[] = []
    for (const { current: hold } of some) {
      if (!this.holds.has(hold)) continue
      if (hold.limitAt - now.monotonic < this.leaseMs) nearLimit.push(hold)
      else whole.push(hold)
    }
    // A lease is longer than its validity by this margin. So the current lease lasts until the
    // limit if the remaining validity plus the margin is at least the time until the limit.
    const marginMs = this.leaseMs - validityMs(this.leaseMs)
    yield [whole, this.leaseMs]
    for (const hold of nearLimit) {
      const leaseMs = hold.upToLimit(this.leaseMs, now)
      yield [[hold], leaseMs - hold.remainingMonotonicMs() > marginMs ? leaseMs : 0]
    }
  }

  start(): void {
    if (this.#ticks !== undefined) return
    this.#dueAt = this.#clock.monotonic() + this.leaseMs / 3
    this.#ticks = this.#clock.every(this.leaseMs / 3, () => this.#tick()).unref()
  }

  #tick(): void {
    const dueAt = this.#dueAt
    this.#dueAt = this.#clock.monotonic() + this.leaseMs / 3
    this.#host.tick(this, dueAt)
  }

  stop(): void {
    this.#clock.clear(this.#ticks)
    this.#ticks = undefined
  }
}
