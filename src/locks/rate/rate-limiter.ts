import type { Public } from '../../kit/public.ts'
import { assertNoMore } from '../../options/input.ts'
import type { RateLimit, RemoteRate } from '../../servers/rate-server.ts'
import {
  acquireArguments,
  type RateAcquireOptions,
  type RateTryOptions,
  tryArguments,
} from './rate-arguments.ts'
import type { RateCalls } from './rate-calls.ts'

/** The result of `tryAcquire` of a rate limiter. */
export interface RateOutcome {
  /** True if the call has its permits. */
  readonly granted: boolean
  /** After this time, the same call would be granted, if no other call comes first. In milliseconds; 0 if granted. */
  readonly retryAfterMs: number
}

/** The state of a rate limiter. */
export interface RateInfo {
  /** The limit of the last grant, which another client may have made with another limit. */
  readonly permits: number
  readonly perMs: number
  /** How many permits were granted in the last `perMs`. */
  readonly used: number
  /** How many calls of all clients wait for their permits. */
  readonly waiting: number
  /** After this time, a call for one permit would be granted, in milliseconds; 0 for now. */
  readonly retryAfterMs: number
}

/**
 * Limits how often something happens, over all processes. In each interval of `perMs` milliseconds, the limiter grants
 * at most `permits` permits. The interval slides: the limit holds for each interval, not only for whole minutes.
 *
 * A permit needs no release. Calls get their permits in the order in which the server receives them. The server's clock
 * counts. A process can be delayed between the grant and its work, so the work itself may be closer together.
 */
export interface RateLimiter extends Public<HoldfastRateLimiter> {}

/** The object behind a {@link RateLimiter}. */
export class HoldfastRateLimiter {
  /** The name that `getRateLimiter` received. */
  readonly name: string
  readonly #limit: RateLimit
  readonly #remote: RemoteRate
  readonly #calls: RateCalls
  readonly #waitMs: number

  /** @internal */
  constructor(
    name: string,
    limit: RateLimit,
    remote: RemoteRate,
    calls: RateCalls,
    waitMs: number,
  ) {
    this.name = name
    this.#limit = limit
    this.#remote = remote
    this.#calls = calls
    this.#waitMs = waitMs
  }

  /**
   * Acquires permits, and waits until the limit allows them. Earlier calls of all processes come first. The call sends
   * one request. The server answers with the time of the grant, and the call waits until then.
   *
   * If the call is aborted while it waits, it gives its permits back. Calls that wait at this moment keep their times.
   *
   * @throws the reason of an abort. `WaitTimeoutError` at once if the wait would be longer than `waitMs`.
   * `InvalidArgumentError` for invalid input. `RedisUnavailableError` if Redis did not answer for `outageMs`: then the
   * call may have used permits. `RedisRefusedError`, `ClosedError`
   */
  async acquire(options?: RateAcquireOptions, ...others: readonly never[]): Promise<void> {
    assertNoMore(others)
    const { waitMs = this.#waitMs, ...rest } = acquireArguments(this.name, this.#limit, options)
    return this.#calls.acquire(this.name, this.#remote, this.#limit, { ...rest, waitMs })
  }

  /**
   * Acquires permits if the limit allows them now, and if no other call waits.
   *
   * @returns if the call has its permits, and otherwise the time for the header `Retry-After`
   * @throws as `acquire` does, without a timeout
   */
  async tryAcquire(options?: RateTryOptions, ...others: readonly never[]): Promise<RateOutcome> {
    assertNoMore(others)
    const cost = tryArguments(this.name, this.#limit, options)
    const retryAfterMs = await this.#calls.tryAcquire(this.name, this.#remote, this.#limit, cost)
    return { granted: retryAfterMs === 0, retryAfterMs }
  }

  /**
   * Returns how many permits were granted in the last `perMs`, and how many calls wait.
   *
   * @throws `RedisUnavailableError` or `RedisRefusedError` if Redis was down for `outageMs`; `ClosedError`
   */
  async inspect(): Promise<RateInfo> {
    const facts = await this.#calls.request(this.name, 'not inspected', (callMs) =>
      this.#remote.inspect(callMs),
    )
    const { used, waiting, waitUs } = facts
    const { permits, perMs } = this.#limit
    return {
      permits: facts.permits ?? permits,
      perMs: facts.perMs ?? perMs,
      ...{ used, waiting, retryAfterMs: Math.ceil(waitUs / 1_000) },
    }
  }

  /**
   * Deletes the grants of the past, so that they no longer count. The limit can be exceeded in the next interval. Calls
   * that wait keep their times, and later calls still come after them.
   *
   * @throws as `inspect` does
   */
  async reset(): Promise<void> {
    await this.#calls.request(this.name, 'not reset', (callMs) => this.#remote.reset(callMs))
  }
}
