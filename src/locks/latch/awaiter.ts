import type { Timer } from '../../kit/clock.ts'
import { Linked } from '../../kit/linked-list.ts'
import { LONGEST_TIMER_MS } from '../../kit/timers.ts'
import type { AwaitOptions } from '../../options/options.ts'
import type { LatchState } from '../../servers/latch-server.ts'
import { AbortWatch } from '../../waiting/abort-watch.ts'
import type { RetryBudget } from '../../waiting/retry-budget.ts'

/**
 * One call that awaits a latch. It settles when the latch opens, its time ends, it is aborted, or
 * it fails.
 */
export class Awaiter extends Linked<Awaiter> {
  readonly promise: Promise<boolean>
  readonly retryBudget: RetryBudget
  readonly #waitMs: number
  readonly #startedAt: number
  /** How many changes its client had requested when the call began. */
  readonly #requests: number
  readonly #host: { settled(awaiter: Awaiter): void }
  readonly #abort: AbortWatch | undefined
  /** The awaited round. Null if it is unknown, undefined before the first check. */
  #round: number | null | undefined
  /** The first round in which its client counted down before the first check. */
  #counted: number | undefined
  #isAnswered = false
  #settled = false
  #deadline: Timer | undefined
  #resolve!: (isOpen: boolean) => void
  #reject!: (reason: unknown) => void

  /**
   * @param requests how many changes its client has requested so far
   * @param host is called when it is settled
   */
  constructor(
    { round, waitMs = Infinity, signal }: AwaitOptions,
    retryBudget: RetryBudget,
    requests: number,
    host: { settled(awaiter: Awaiter): void },
  ) {
    super()
    this.#round = round
    this.#requests = requests
    this.retryBudget = retryBudget
    this.#waitMs = waitMs
    this.#startedAt = retryBudget.clock.monotonic()
    this.#host = host
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#abort = signal && new AbortWatch(signal, this)
    if (waitMs !== Infinity) this.#armDeadline()
  }

  /** A request that was sent after the call began found this state. */
  saw({ count, round, setAt = -Infinity }: LatchState): void {
    this.#isAnswered = true
    const known = this.#round === undefined ? this.#counted : this.#round
    const isOther =
      (known !== undefined && round !== null && round !== known) ||
      (this.#round === undefined && setAt > this.#startedAt)
    if (count === 0 || isOther) this.#settle(() => this.#resolve(true))
    // If the server does not know the round, the known round continues.
    else this.#round = round ?? this.#round ?? null
  }

  /**
   * The change with this number found this state. It does not count if it was requested before the
   * call.
   */
  sawBy(request: number, state: LatchState): void {
    if (request <= this.#requests) return
    // The answer to a count-down does not say when its round was set. If that was after the call,
    // only a check shows it.
    if (state.count === 0 || this.#round !== undefined) this.saw(state)
    else {
      this.#isAnswered = true
      this.#counted ??= state.round ?? undefined
    }
  }

  reject(reason: unknown): void {
    this.#settle(() => this.#reject(reason))
  }

  #settle(tell: () => void): void {
    if (this.#settled) return
    this.#settled = true
    this.retryBudget.clock.clear(this.#deadline)
    this.#abort?.stop()
    this.#host.settled(this)
    tell()
  }

  get #leftMs(): number {
    return this.#waitMs - (this.retryBudget.clock.monotonic() - this.#startedAt)
  }

  #armDeadline(): void {
    const { clock } = this.retryBudget
    this.#deadline = clock.after(Math.min(Math.max(this.#leftMs, 1), LONGEST_TIMER_MS), () => {
      if (this.#leftMs > 1) this.#armDeadline()
      // After a blocked event loop, the answer may have arrived without being read.
      else clock.nextTurn(() => this.#timeIsUp())
    })
  }

  // False means that the latch did not open in time. If Redis is silent for longer than usual, the
  // state is unknown.
  #timeIsUp(): void {
    if (this.retryBudget.isOutage(this.#isAnswered)) {
      this.reject(this.retryBudget.error(`not seen to open within ${this.#waitMs} ms`))
    } else {
      this.#settle(() => this.#resolve(false))
    }
  }
}
