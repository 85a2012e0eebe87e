import type { Clock } from '../../kit/clock.ts'
import type { PermitAnswer, PermitsHeld, PlaceBehind } from '../../servers/permit-pool.ts'

/** The attempt of a waiter, and what the client knew when it sent the attempt. */
export interface SentAttempt {
  readonly waiter: object
  readonly isLast: boolean
  /** The next waiter of the client. A grant may give the place to this waiter. */
  readonly behind: object | undefined
  /** True if the same request released permits. */
  readonly isHandOver: boolean
  /** How many hints the client had received before it sent the attempt. */
  readonly hints: number
}

/**
 * The place of one client in the server's queue for one semaphore, as the last answers describe it.
 * The place belongs to one waiter of the client.
 */
export class ClientPlace {
  /** True if this client may have a place in the queue. */
  isTaken = false
  /** How many hints the client has received. */
  hints = 0
  /** The waiter that got the last answer, if this answer was `held`. Otherwise undefined. */
  #waiter: object | undefined
  #waitId = ''
  #isBehind = false
  /** The place that the last grant gave to the next waiter. This waiter has not used it yet. */
  #placeForNext:
    | { readonly sent: SentAttempt; readonly place: PlaceBehind; readonly at: number }
    | undefined
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Returns the id of the wait on the server; '' if the place does not belong to this waiter. */
  waitIdOf(waiter: object): string {
    return waiter === this.#waiter ? this.#waitId : ''
  }

  /** True if this waiter has the place, and no other client is before this client as far as is known. */
  isNext(waiter: object): boolean {
    return waiter === this.#waiter && !this.#isBehind
  }

  /**
   * Records the answer to a waiter.
   *
   * @param isFirst false if the waiter has given up. The next waiter then sends its own requests
   */
  answered(sent: SentAttempt, answer: PermitAnswer, isFirst: boolean): void {
    const isHeld = answer.kind === 'held'
    this.isTaken = isHeld || !sent.isLast
    this.#waiter = isHeld ? sent.waiter : undefined
    this.#placeForNext = undefined
    if (isHeld) {
      this.#waitId = answer.waitId ?? ''
      // The request released permits, and the waiter did not get them. So another client is before
      // this client, or the waiter wants more permits.
      this.#isBehind = sent.isHandOver
    } else if (answer.kind === 'granted' && answer.behind !== undefined && isFirst) {
      this.#placeForNext = { sent, place: answer.behind, at: this.#clock.monotonic() }
    }
  }

  /**
   * Returns the answer to a waiter that got its place from the last grant. Undefined if the waiter
   * must send a request. After a hint, the waiter must send a request, because the hint may have
   * been meant for this waiter.
   */
  answerTo(waiter: object): PermitsHeld | undefined {
    const given = this.#placeForNext
    this.#placeForNext = undefined
    if (given === undefined || given.sent.behind !== waiter) return undefined
    if (given.sent.hints !== this.hints) return undefined
    const { ttlMs, waitId, seen, isFirst } = given.place
    this.#waiter = waiter
    this.#waitId = waitId
    this.#isBehind = !isFirst
    const agoMs = this.#clock.monotonic() - given.at
    return { kind: 'held', unasked: true, ttlMs: Math.max(0, ttlMs - agoMs), waitId, seen }
  }
}
