import type { BackgroundTasks } from '../../kit/background-tasks.ts'
import type { RateAnswer, RateGrant, RateLimit, RemoteRate } from '../../servers/rate-server.ts'
import { AbortWatch } from '../../waiting/abort-watch.ts'
import type { RetryBudget } from '../../waiting/retry-budget.ts'
import { WaitTimeoutError } from '../../waiting/wait-timeout-error.ts'
import { WaitTimer } from '../../waiting/wait-timer.ts'

/** The answer for a call that was aborted before its first request. */
const NOTHING: RateAnswer = { kind: 'refused', waitUs: 0 }

interface RateTerms {
  readonly name: string
  readonly id: string
  readonly remote: RemoteRate
  readonly limit: RateLimit
  readonly cost: number
  /** The longest wait in milliseconds; Infinity for no limit. */
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
  /** Makes a retry budget. `waitMs` is the longest wait in milliseconds; 0 for a call that does not wait. */
  budget(waitMs: number): RetryBudget
  /** The requests that give back grants of aborted calls. */
  readonly givingBack: BackgroundTasks
}

/**
 * One call of `acquire`. The server grants the permits at once, for a time that may be in the future. The call waits for
 * this time. If the call is aborted first, it gives the grant back.
 */
export class RateCall {
  readonly promise: Promise<void>
  readonly terms: RateTerms
  readonly #budget: RetryBudget
  readonly #startedAt: number
  readonly #abort: AbortWatch | undefined
  #timer: WaitTimer | undefined
  #grant: RateGrant | undefined
  #isSettled = false
  #resolve!: () => void
  #reject!: (reason: unknown) => void

  constructor(terms: RateTerms) {
    this.terms = terms
    this.#budget = terms.budget(terms.waitMs)
    this.#startedAt = this.#budget.clock.monotonic()
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#abort = terms.signal && new AbortWatch(terms.signal, this)
  }

  get waitedMs(): number {
    return this.#budget.clock.monotonic() - this.#startedAt
  }

  start(): void {
    const requested = this.#request().catch((error: unknown) => this.reject(error))
    // After an abort, the answer decides if there are permits to give back.
    this.terms.givingBack.count(requested)
  }

  /** Rejects the call with `reason`, and gives its grant back in the background. */
  reject(reason: unknown): void {
    if (!this.#finish()) return
    this.#reject(reason)
    this.#giveBack()
  }

  async #request(): Promise<void> {
    const { remote, id, limit, cost } = this.terms
    let again = false
    const answer = await this.#budget.retry(
      async (callMs) => {
        if (this.#isSettled && !again) return NOTHING
        const request = { id, ...limit, cost, mostMs: this.#mostMs, again } as const
        again = true
        return remote.acquire(request, callMs)
      },
      () => 'it is unknown if this call has used permits',
    )
    if (answer.kind === 'refused') {
      this.reject(this.#timeout(answer.waitUs))
      return
    }
    const { atUs, waitUs } = answer
    if (waitUs > 0) this.#grant = { id, atUs, cost }
    if (this.#isSettled) this.#giveBack()
    else if (waitUs === 0) this.#complete()
    else {
      // A timer of Node.js may end one millisecond early.
      const ms = Math.ceil(waitUs / 1_000) + 1
      this.#timer = new WaitTimer(this.#budget.clock, ms, () => this.#complete())
    }
  }

  /** The longest wait from now in ms, for the server. */
  get #mostMs(): number | '' {
    if (this.#isSettled) return -1
    const { waitMs } = this.terms
    return waitMs === Infinity ? '' : Math.max(0, Math.floor(waitMs - this.waitedMs))
  }

  #complete(): void {
    if (this.#finish()) this.#resolve()
  }

  /** Returns false if the call is already settled. */
  #finish(): boolean {
    if (this.#isSettled) return false
    this.#isSettled = true
    this.#timer?.stop()
    this.#abort?.stop()
    return true
  }

  #giveBack(): void {
    const grant = this.#grant
    if (grant === undefined) return
    const { remote, budget, givingBack } = this.terms
    const given = budget(0).retry(
      (callMs) => remote.giveBack(grant, callMs),
      () => 'its permits were not given back',
    )
    given.catch(() => undefined)
    givingBack.count(given)
  }

  #timeout(waitUs: number): WaitTimeoutError {
    const { name, cost, waitMs, limit } = this.terms
    const { permits, perMs } = limit
    const wanted = cost === 1 ? '1 permit' : `${cost} permits`
    return new WaitTimeoutError(
      `Rate limiter "${name}": ${wanted} would be available in ${Math.ceil(waitUs / 1_000)} ms, and \`waitMs\` is ` +
        `${waitMs}. The limit is ${permits} permits in ${perMs} ms. Try again later, or use a longer \`waitMs\`.`,
      name,
      this.waitedMs,
    )
  }
}
