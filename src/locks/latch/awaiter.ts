import type { Timer } from '../../kit/clock.ts'
import { Linked } from '../../kit/linked-list.ts'
import { LONGEST_TIMER_MS } from '../../kit/timers.ts'
import type { AwaitOptions } from '../../options/options.ts'
import type { LatchState } from '../../servers/latch-server.ts'
import { AbortWatch } from '../../waiting/abort-watch.ts'
import type { RetryBudget } from '../../waiting/retry-budget.ts'

/** One call that awaits a latch until it is settled: by its opening, by the end of its time, an abort or a failure. */
export class Awaiter extends Linked<Awaiter> {
  readonly promise: Promise<boolean>
  readonly retryBudget: RetryBudget
  readonly #waitMs: number
  readonly #startedAt: number
  /** How many requests for changes its client had made when its call began. */
  readonly #requests: number
  readonly #host: { settled(awaiter: Awaiter): void }
  readonly #abort: AbortWatch | undefined
  /** The round that it awaits the end of: null where nobody knows it, undefined before the first look. */
  #round: number | null | undefined
  /** The first round in which its client counted down before the first look. */
  #counted: number | undefined
  #isAnswered = false
  #settled = false
  #deadline: Timer | undefined
  #resolve!: (isOpen: boolean) => void
  #reject!: (reason: unknown) => void

  /**
   * @param requests how many requests for changes its client has made by now
   * @param host told when it is settled
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

  /** A request that was sent after its call began has found the latch like this. */
  saw({ count, round, setAt = -Infinity }: LatchState): void {
    this.#isAnswered = true
    const known = this.#round === undefined ? this.#counted : this.#round
    const isOther =
      (known !== undefined && round !== null && round !== known) ||
      (this.#round === undefined && setAt > this.#startedAt)
    if (count === 0 || isOther) this.#settle(() => this.#resolve(true))
    // A round that is forgotten goes on.
    else this.#round = round ?? this.#round ?? null
  }

  /** Its client has changed the latch by the request of that number, before or after its call, and found it like this. */
  sawBy(request: number, state: LatchState): void {
    if (request <= this.#requests) return
    // The answer to a count-down does not tell when its round was set. That may have been after the call: a look tells.
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
      // After a blocked event loop the answer may have arrived and not been read yet.
      else clock.nextTurn(() => this.#timeIsUp())
    })
  }

  // False says that it was not open in the time given. Where Redis is silent for longer than usual nobody can know.
  #timeIsUp(): void {
    if (this.retryBudget.isOutage(this.#isAnswered)) {
      this.reject(this.retryBudget.error(`not seen to open within ${this.#waitMs} ms`))
    } else {
      this.#settle(() => this.#resolve(false))
    }
  }
}
