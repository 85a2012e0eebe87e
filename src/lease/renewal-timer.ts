import { LinkedList } from '../kit/linked-list.ts'
import type { Clock, Timer } from './clock.ts'
import type { Hold } from './hold.ts'
import { Recheck } from './recheck.ts'

/** Who asks about them. */
interface Host {
  tick(timer: RenewalTimer): void
  verify(holds: readonly Hold[]): void
}

/** One timer for all holds that are renewed to one lease, every third of it, whatever their number. */
export class RenewalTimer {
  readonly leaseMs: number
  readonly holds = new LinkedList<Hold>()
  /** Those about whom an answer is missing. */
  readonly unheard: Recheck<Hold>
  readonly #clock: Clock
  readonly #host: Host
  #ticks: Timer | undefined

  constructor(leaseMs: number, clock: Clock, host: Host) {
    this.leaseMs = leaseMs
    this.unheard = new Recheck(Math.min(leaseMs / 10, 1_000), clock, (holds) => host.verify(holds))
    this.#clock = clock
    this.#host = host
  }

  start(): void {
    this.#ticks ??= this.#clock.every(this.leaseMs / 3, () => this.#host.tick(this)).unref()
  }

  stop(): void {
    this.#clock.clear(this.#ticks)
    this.#ticks = undefined
  }
}
