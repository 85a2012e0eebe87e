import type { Clock } from '../kit/clock.ts'
import { type Dated, Deadlines } from '../kit/deadlines.ts'

/** The largest number of leases in one request. */
const MOST_LEASES = 500

/** In one turn of the event loop, the queue sends requests until they cost this much. One lease costs 1. */
const TURN_COST = MOST_LEASES

/**
 * The cost of a request, in addition to the cost of its leases. This cost limits the number of requests in a turn,
 * because in a cluster most requests have few leases.
 */
const REQUEST_COST = 10

interface DueHold {
  remainingMonotonicMs(): number
}

/** The requests for some holds of one group. */
interface HoldRequests<H> {
  /** True if the queue must send nothing more of these requests, because newer requests include the same holds. */
  isDropped(): boolean
  /**
   * Sends the requests for these holds.
   *
   * @returns the number of requests
   */
  send(holds: readonly H[]): number
}

/** Holds that wait for their requests, in the order in which the queue sends these requests. */
class DueHolds<H extends DueHold> implements Dated {
  /** When the validity of the next hold ends. */
  dueAt = 0
  heapIndex = -1
  readonly requests: HoldRequests<H>
  readonly #holds: readonly H[]
  #sent = 0

  constructor(holds: readonly H[], requests: HoldRequests<H>) {
    this.#holds = holds
    this.requests = requests
  }

  get next(): H | undefined {
    return this.#holds[this.#sent]
  }

  /** Returns the next holds, at most {@link MOST_LEASES} of them. */
  nextHolds(): readonly H[] {
    const from = this.#sent
    this.#sent = Math.min(from + MOST_LEASES, this.#holds.length)
    return this.#holds.slice(from, this.#sent)
  }
}

/**
 * Sends the requests of one watchdog in portions, so that many renewals do not block the event loop.
 * The queue sends one portion in each turn of the event loop. The group whose next hold becomes invalid first comes
 * first.
 */
export class RenewalQueue<H extends DueHold> {
  readonly #clock: Clock
  readonly #due = new Deadlines<DueHolds<H>>()
  /** How much the requests of this turn of the event loop may still cost. */
  #budget = TURN_COST
  #isTurnAwaited = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @param holds holds of one group, in the order of their requests. Usually the first hold becomes invalid first */
  add(holds: readonly H[], requests: HoldRequests<H>): void {
    this.#order(new DueHolds(holds, requests))
  }

  /** Sends the first portion now, and the other portions in the next turns of the event loop. */
  send(): void {
    if (this.#due.first === undefined) return
    this.#awaitTurn()
    for (let due = this.#due.first; due !== undefined && this.#budget > 0; due = this.#due.first) {
      if (due.requests.isDropped()) {
        this.#due.remove(due)
        continue
      }
      const holds = due.nextHolds()
      this.#order(due)
      this.#budget -= holds.length + REQUEST_COST * due.requests.send(holds)
    }
  }

  #awaitTurn(): void {
    if (this.#isTurnAwaited) return
    this.#isTurnAwaited = true
    this.#clock.nextTurn(() => {
      this.#isTurnAwaited = false
      this.#budget = TURN_COST
      this.send()
    })
  }

  #order(due: DueHolds<H>): void {
    const { next } = due
    if (next === undefined) this.#due.remove(due)
    else this.#due.set(due, this.#clock.monotonic() + next.remainingMonotonicMs())
  }
}
