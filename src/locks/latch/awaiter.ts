import { Linked } from '../../kit/linked-list.ts'
import type { LatchState } from '../../servers/latch-server.ts'
import { AbortWatch } from '../../waiting/abort-watch.ts'
import type { RetryBudget } from '../../waiting/retry-budget.ts'
import { WaitTimer } from '../../waiting/wait-timer.ts'
import type { AwaiterOptions } from './latch-arguments.ts'

/**
 * One call of `await` of a latch. It settles when the latch opens, `waitMs` ends, the caller
 * aborts, or the call fails.
 */
export class Awaiter extends Linked<Awaiter> {
  readonly promise: Promise<boolean>
  readonly retryBudget: RetryBudget
  readonly #waitMs: number
  /** How many changes of latches the client had requested when this call began. */
  readonly #requests: number
  readonly #host: { settled(awaiter: Awaiter): void }
  readonly #abort: AbortWatch | undefined
  readonly #timer: WaitTimer
  /**
   * The number of the round that the call awaits. Null if the server does not know the round.
   * Undefined before the first check of a call without `round`.
   */
  #round: number | null | undefined
  /**
   * The round in the first answer to a count-down of this client. Undefined if no such answer
   * arrived before the first check.
   */
  #roundOfCountDown: number | undefined
  #isAnswered = false
  #settled = false
  #resolve!: (isOpen: boolean) => void
  #reject!: (reason: unknown) => void

  /**
   * @param requests how many changes of latches the client has requested so far
   * @param host notified when this call settles
   */
  constructor(
    { round, waitMs, signal }: AwaiterOptions,
    retryBudget: RetryBudget,
    requests: number,
    host: { settled(awaiter: Awaiter): void },
  ) {
    super()
    this.#round = round
    this.#requests = requests
    this.retryBudget = retryBudget
    this.#waitMs = waitMs
    this.#host = host
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#abort = signal && new AbortWatch(signal, this)
    const { clock } = retryBudget
    // If the event loop was blocked, an answer may have arrived unread. The next turn of the event
    // loop reads this answer before the call gives up.
    this.#timer = new WaitTimer(clock, waitMs, () => clock.nextTurn(() => this.#timeIsUp()))
  }

  /**
   * Handles the state of the latch in an answer. The request for this answer was sent after this
   * call began.
   */
  saw({ count, round, setAt = -Infinity }: LatchState): void {
    this.#isAnswered = true
    const known = this.#round === undefined ? this.#roundOfCountDown : this.#round
    const isOther =
      (known !== undefined && round !== null && round !== known) ||
      (this.#round === undefined && setAt > this.#timer.startedAt)
    if (count === 0 || isOther) this.#finish(() => this.#resolve(true))
    // If the server does not know the round, the awaiter keeps the round that it knows.
    else this.#round = round ?? this.#round ?? null
  }

  /**
   * Handles the state in the answer to a change of this client. Ignores the answer if the client
   * requested the change before this call began.
   *
   * @param request the number of the change
   */
  sawBy(request: number, state: LatchState): void {
    if (request <= this.#requests) return
    // The answer to a count-down does not say when the round began. Only a check shows if the round
    // began after this call.
    if (state.count === 0 || this.#round !== undefined) this.saw(state)
    else {
      this.#isAnswered = true
      this.#roundOfCountDown ??= state.round ?? undefined
    }
  }

  reject(reason: unknown): void {
    this.#finish(() => this.#reject(reason))
  }

  #finish(deliver: () => void): void {
    if (this.#settled) return
    this.#settled = true
    this.#timer.stop()
    this.#abort?.stop()
    this.#host.settled(this)
    deliver()
  }

  // Resolves with false if the latch did not open in time. Rejects if the state is unknown, because
  // no answer has arrived, the last request failed, or the server has been silent for too long.
  #timeIsUp(): void {
    // If no answer has arrived, the latch may have been open all the time.
    if (!this.#isAnswered || this.retryBudget.isOutage(true)) {
      this.reject(this.retryBudget.error(`not seen to open within ${this.#waitMs} ms`))
    } else {
      this.#finish(() => this.#resolve(false))
    }
  }
}
