import type { Clock, Moment } from '../kit/clock.ts'
import { type LockObserver, UNOBSERVED } from '../lock-observer.ts'
import { RenewalQueue } from './renewal-queue.ts'
import type { Renewer } from './renewer.ts'

interface RenewedHold<H extends RenewedHold<H>> {
  /** The hold that has the lock now. */
  readonly current: H
  /** True if the hold is neither released nor known to be lost. */
  readonly live: boolean
  proved(leftMs: number, sentAt: Moment, now: Moment): void
  loseIfExpired(): void
  loseGone(): void
  remainingMonotonicMs(): number
}

/** The members of a `RenewalTimer` that the requests use. */
interface TimerOfHolds<H> {
  readonly leaseMs: number
  /** The number of the present round. The queue drops unsent requests of earlier rounds. */
  readonly round: number
  /** The holds. The hold whose last renewal is the oldest is the first. */
  readonly holds: { moveToEnd(hold: H): void }
  readonly unheard: { add(holds: readonly H[]): void }
}

export interface RenewalEvents<H> extends Pick<LockObserver, 'renewing'> {
  renewed(holds: number): void
  late(hold: H, cause: Error): void
}

/** Returns groups of these holds, each with the lease to request in milliseconds. A lease of 0 only checks holds. */
type Wants<H> = (holds: readonly H[]) => Iterable<readonly [holds: readonly H[], leaseMs: number]>

/** Sends the renewals and checks of one watchdog, and handles their answers. */
export class RenewalRequests<H extends RenewedHold<H>> {
  readonly #renewer: Renewer<H>
  readonly #clock: Clock
  readonly #events: RenewalEvents<H>
  readonly #queue: RenewalQueue<H>

  constructor(renewer: Renewer<H>, clock: Clock, events: RenewalEvents<H>) {
    this.#renewer = renewer
    this.#clock = clock
    this.#events = events
    this.#queue = new RenewalQueue(clock)
  }

  /**
   * Adds holds of one timer. `send` then sends their requests.
   *
   * @param holds the holds of each server in the order of their requests
   * @param wants called just before the requests are sent, because the holds may change before that moment
   * @param dueAt when the requests were due, on the monotonic clock
   */
  add(timer: TimerOfHolds<H>, holds: readonly H[], wants: Wants<H>, dueAt: number): void {
    const { round } = timer
    const requests = {
      isDropped: () => timer.round !== round,
      send: (some: readonly H[]) => {
        let count = 0
        for (const [wanted, leaseMs] of wants(some)) {
          if (wanted.length === 0) continue
          count += 1
          void this.#request(timer, wanted, leaseMs, dueAt)
        }
        return count
      },
    }
    for (const group of this.#renewer.groups(holds)) this.#queue.add(group, requests)
  }

  /** Sends the first requests now. If there are many requests, sends the others in the next turns of the event loop. */
  send(): void {
    this.#queue.send()
  }

  async #request(
    timer: TimerOfHolds<H>,
    holds: readonly H[],
    leaseMs: number,
    dueAt: number,
  ): Promise<void> {
    const sentAt = this.#clock.now()
    const latenessMs = Math.max(0, sentAt.monotonic - dueAt)
    const observation = leaseMs > 0 ? this.#events.renewing(holds.length, latenessMs) : UNOBSERVED
    const asking = this.#renewer.renew(holds, leaseMs, timer.leaseMs / 3)
    observation.started()
    const answers = await asking
    let now = this.#clock.now()
    const unknown: H[] = []
    let renewed = 0
    let gone = 0
    let failure: Error | undefined
    for (let i = 0; i < holds.length; i += 1) {
      const answer = answers[i]
      const hold = (holds[i] as H).current
      if (answer === undefined || !hold.live) continue
      if (answer.kind === 'lost') {
        gone += 1
        hold.loseGone()
      } else if (answer.kind === 'unknown') {
        failure ??= answer.cause
        unknown.push(hold)
        this.#events.late(hold, answer.cause)
        // If the lease has expired by the wall clock alone, only an answer of the server could confirm the lease. The
        // request failed, so the hold is lost now.
        hold.loseIfExpired()
      } else {
        hold.proved(answer.leaseMs, sentAt, now)
        timer.holds.moveToEnd(hold)
        if (answer.kind === 'renewed') renewed += 1
      }
      // Listeners of the client may have run for a long time, so `now` may be outdated.
      if (!hold.live || answer.kind === 'unknown') now = this.#clock.now()
    }
    if (renewed > 0) this.#events.renewed(renewed)
    if (unknown.length > 0) timer.unheard.add(unknown)
    observation.ended(renewed, gone, failure)
  }
}
