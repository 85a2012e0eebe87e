import type { Clock, Moment, Timer } from '../kit/clock.ts'
import { type Linked, LinkedList } from '../kit/linked-list.ts'
import { Recheck } from './recheck.ts'
import { validityMs } from './validity.ts'

interface Renewed<H extends Renewed<H>> extends Linked<H> {
  readonly limitAt: number
  upToLimit(leaseMs: number, at: Moment): number
  remainingMonotonicMs(): number
}

/**
 * Receives the ticks, and sends the requests for the holds. The watchdog implements this interface.
 */
interface TimerEvents<H extends Renewed<H>> {
  tick(timer: RenewalTimer<H>): void
  verify(holds: readonly H[]): void
}

/**
 * The timer of all holds with the same renewed lease. The timer ticks after every third of this
 * lease.
 */
export class RenewalTimer<H extends Renewed<H>> {
  readonly leaseMs: number
  readonly holds = new LinkedList<H>()
  /** Checks holds again soon if the last request for them failed. */
  readonly unheard: Recheck<H>
  readonly #clock: Clock
  readonly #host: TimerEvents<H>
  /** How late the current tick is, in milliseconds; 0 between ticks. */
  lateMs = 0
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
    const holds = some.filter((hold) => this.holds.has(hold))
    const now = this.#clock.now()
    const isNear = ({ limitAt }: H) => limitAt - now.monotonic < this.leaseMs
    // A lease is longer than its validity by this margin. So the current lease lasts until the
    // limit if the remaining validity plus the margin is at least the time until the limit.
    const marginMs = this.leaseMs - validityMs(this.leaseMs)
    yield [holds.filter((hold) => !isNear(hold)), this.leaseMs]
    for (const hold of holds.filter(isNear)) {
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
    const now = this.#clock.monotonic()
    this.lateMs = Math.max(0, now - this.#dueAt)
    this.#dueAt = now + this.leaseMs / 3
    this.#host.tick(this)
    this.lateMs = 0
  }

  stop(): void {
    this.#clock.clear(this.#ticks)
    this.#ticks = undefined
  }
}
