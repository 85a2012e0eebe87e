import type { Words } from '../../errors.ts'
import { BackgroundTasks } from '../../kit/background-tasks.ts'
import { outsideFrames } from '../../kit/frame-storage.ts'
import { within } from '../../kit/within.ts'
import { closedError } from '../../local/closed-errors.ts'
import type { WaitingEntry } from '../../local/holdings.ts'
import { finite } from '../../local/list-holdings.ts'
import type { LocalLocks } from '../../local/local-locks.ts'
import type { RateLimit, RemoteRate } from '../../servers/rate-server.ts'
import { RetryBudget } from '../../waiting/retry-budget.ts'
import { RateCall } from './rate-call.ts'

const WORDS: Words = {
  noun: 'Rate limiter',
  unavailable: 'It is unknown how many permits are available.',
}

interface RateAcquisition {
  readonly cost: number
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
}

/** All calls of one client for permits of rate limiters. */
export class RateCalls {
  readonly #registry: LocalLocks
  readonly #waiting = new Set<RateCall>()
  readonly #givingBack = new BackgroundTasks()
  #count = 0

  constructor(registry: LocalLocks) {
    this.#registry = registry
  }

  async acquire(
    name: string,
    remote: RemoteRate,
    limit: RateLimit,
    { cost, waitMs, signal }: RateAcquisition,
  ): Promise<void> {
    this.#registry.assertAdmits(name)
    signal?.throwIfAborted()
    const budget = (ms: number) => this.#budget(name, ms)
    const id = this.#newId()
    const givingBack = this.#givingBack
    const call = new RateCall({ name, id, remote, limit, cost, waitMs, signal, budget, givingBack })
    this.#waiting.add(call)
    try {
      outsideFrames(() => call.start())
      await call.promise
    } finally {
      this.#waiting.delete(call)
    }
  }

  /** Returns how long the call would have to wait, in ms; 0 if the call has its permits. */
  async tryAcquire(
    name: string,
    remote: RemoteRate,
    limit: RateLimit,
    cost: number,
  ): Promise<number> {
    const id = this.#newId()
    let again = false
    const answer = await this.request(
      name,
      'it is unknown if this call has used permits',
      (callMs) => {
        const request = { id, ...limit, cost, mostMs: 0, again }
        again = true
        return remote.acquire(request, callMs)
      },
    )
    return answer.kind === 'granted' ? 0 : Math.ceil(answer.waitUs / 1_000)
  }

  async request<T>(name: string, failed: string, call: (callMs: number) => Promise<T>): Promise<T> {
    this.#registry.assertAdmits(name)
    return this.#budget(name, 0).retry(call, () => failed)
  }

  get waiting(): WaitingEntry[] {
    return [...this.#waiting].map(({ terms: { name, id, waitMs, cost }, waitedMs }) => ({
      name,
      kind: 'rate',
      owner: id,
      waitedMs: Math.round(waitedMs),
      waitMs: finite(waitMs),
      holder: null,
      permits: cost,
    }))
  }

  /**
   * Rejects all waiting calls. Resolves when their grants are given back, at the latest after `commandTimeoutMs` plus
   * 50 ms.
   */
  async shutDown(): Promise<void> {
    for (const call of [...this.#waiting]) call.reject(closedError())
    await within(this.#registry.limits.commandTimeoutMs + 50, this.#givingBack.quiet())
  }

  #newId(): string {
    this.#count += 1
    return `${this.#registry.clientId}:rate:${this.#count}`
  }

  #budget(name: string, waitMs: number): RetryBudget {
    return new RetryBudget(name, this.#registry.limits, undefined, WORDS, waitMs)
  }
}
