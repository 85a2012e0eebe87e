import { InvalidArgumentError } from '../../errors.ts'
import { show } from '../../kit/show.ts'
import {
  abortSignal,
  assertNoMore,
  unchecked,
  waitMs,
  wholeMs,
  wholeNumber,
} from '../../options/input.ts'
import { or, shape } from '../../options/shape.ts'
import type { RateLimit } from '../../servers/rate-server.ts'

/** The options of `getRateLimiter`. */
export interface RateLimiterOptions {
  /** How many permits the limiter grants in each interval of `perMs`: a whole number from 1 to 100,000. */
  permits: number
  /** The length of the interval in milliseconds, at most 366 days. */
  perMs: number
}

/** The options of `tryAcquire` of a rate limiter. */
export interface RateTryOptions {
  /**
   * How many permits the call needs: from 1 to the `permits` of the limiter.
   *
   * @default 1
   */
  cost?: number
}

/** The options of `acquire` of a rate limiter. */
export interface RateAcquireOptions extends RateTryOptions {
  /**
   * The longest wait in milliseconds. If the call would have to wait for longer, it rejects at once. `Infinity` means no
   * limit, even when the client has a `waitMs`. 0 is invalid.
   *
   * @default the `waitMs` of the client
   */
  waitMs?: number
  /** Ends the wait: the call rejects with `signal.reason`. */
  signal?: AbortSignal
}

/** The server stores an entry for each grant that counts, so this limits the memory of one limiter. */
const MOST_PERMITS = 100_000
const LONGEST_INTERVAL_MS = 366 * 24 * 3_600_000

const readLimiter = shape('The options of getRateLimiter()', {
  permits: unchecked,
  perMs: unchecked,
})

const readTry = shape('The options of tryAcquire()', { cost: or(unchecked, 1) })

const readAcquire = shape('The options of acquire()', {
  cost: or(unchecked, 1),
  waitMs: waitMs('To try without waiting, use tryAcquire().'),
  signal: abortSignal,
})

/** @internal */
export function rateLimit(name: string, options: unknown, others: readonly unknown[]): RateLimit {
  assertNoMore(others)
  if (options === undefined) {
    throw new InvalidArgumentError(
      `Rate limiter ${show(name)} needs its limit: getRateLimiter(name, { permits, perMs }).`,
      name,
    )
  }
  const { permits, perMs } = readLimiter(options)
  return {
    permits: wholeNumber(permits, ofLimiter(name, 'permits'), 1, MOST_PERMITS, name),
    perMs: wholeMs(perMs, ofLimiter(name, 'perMs'), LONGEST_INTERVAL_MS),
  }
}

/** @internal */
export function tryArguments(name: string, { permits }: RateLimit, options: unknown = {}) {
  return costOf(name, permits, readTry(options).cost)
}

/** @internal */
export function acquireArguments(name: string, { permits }: RateLimit, options: unknown = {}) {
  const { cost, ...limits } = readAcquire(options)
  return { ...limits, cost: costOf(name, permits, cost) }
}

function costOf(name: string, permits: number, cost: unknown): number {
  return wholeNumber(cost, ofLimiter(name, 'cost'), 1, permits, name)
}

function ofLimiter(name: string, option: string): string {
  return `Rate limiter ${show(name)}: \`${option}\``
}
