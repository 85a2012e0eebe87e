import type { Defaults } from '../../options/acquisition.ts'
import {
  abortSignal,
  assertNoMore,
  limitedWaitMs,
  unchecked,
  waitMs,
  wholeMs,
  wholeNumber,
} from '../../options/input.ts'
import { or, type Rule, shape } from '../../options/shape.ts'

/** The largest number of permits, because Redisson reads the number as an `int` of Java. */
export const MOST_PERMITS = 2_147_483_647

export interface AcquirePermitsOptions {
  /**
   * The longest wait in milliseconds. At its end, the call rejects with `WaitTimeoutError`. `Infinity` means no limit,
   * even when the client has a `waitMs`. 0 is invalid.
   *
   * @default the `waitMs` of the client
   */
  waitMs?: number
  /** An abort ends the wait: the call rejects with `signal.reason`. After the acquisition, the signal has no effect. */
  signal?: AbortSignal
}

export interface TryAcquirePermitsOptions extends AcquirePermitsOptions {
  /**
   * How many permits to acquire, all or none.
   *
   * @default 1
   */
  permits?: number
  /** The longest wait in milliseconds. Without `waitMs`, the call sends one request. 0 is invalid. */
  waitMs?: number
}

export interface UsingPermitsOptions extends AcquirePermitsOptions {
  /**
   * How many permits to acquire, all or none.
   *
   * @default 1
   */
  permits?: number
}

export interface NewSemaphoreOptions {
  /** How long the semaphore exists, in milliseconds. Without `ttlMs`, it exists until a client deletes it. */
  ttlMs?: number
}

/** The checked options of an acquisition, with the defaults of the client. */
export interface PermitsWanted {
  readonly permits: number
  /** The longest wait in milliseconds. 0 means one request without a wait, Infinity means no limit. */
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
}

/**
 * Returns the value if it is a whole number from `least` to 2,147,483,647. Throws
 * `InvalidArgumentError` for any other value.
 *
 * @param call the call as users write it, for the error
 */
export function permitsGiven(value: unknown, call: string, least = 0): number {
  return wholeNumber(value, `${call}: the permits`, least, MOST_PERMITS)
}

/** Like `permitsGiven`, but also accepts numbers below 0. */
export function anyPermitsGiven(value: unknown, call: string): number {
  return permitsGiven(value, call, -MOST_PERMITS)
}

/** Makes a function that checks the options of a call which acquires permits. */
function reader(call: string, waitRule: Rule<number>, others: Record<string, Rule<unknown>> = {}) {
  const read = shape(`${call}: the options`, {
    permits: or((value) => permitsGiven(value, call), 1),
    waitMs: waitRule,
    signal: abortSignal,
    ...others,
  })
  return (options: unknown = {}, defaults?: Defaults): PermitsWanted => {
    const { permits, waitMs = defaults?.untilHeld.waitMs ?? 0, signal } = read(options)
    return { permits, waitMs, signal }
  }
}

const WAIT = waitMs('To try once without waiting, use tryAcquire().')
const TRY = limitedWaitMs('To try once without waiting, leave it out.')

const readAcquire = reader('acquire(options)', WAIT)
const readLimits = shape('acquire(permits, options): the options', {
  waitMs: WAIT,
  signal: abortSignal,
})
const readTtl = shape('trySetPermits(permits, options): the options', { ttlMs: or(wholeMs, 0) })

export const usingArguments = reader('using(fn, options)', WAIT)
export const tryAcquireArguments = reader('tryAcquire(options)', TRY)
export const tryUsingArguments = reader('tryUsing(fn, options)', TRY, { otherwise: unchecked })

/** Checks the arguments of `acquire`: either options, or a number of permits and then options. */
export function acquireArguments(
  first: unknown,
  options: unknown,
  others: readonly unknown[],
  defaults: Defaults,
): PermitsWanted {
  assertNoMore(others)
  if (typeof first === 'object' && first !== null) {
    assertNoMore(
      options === undefined ? [] : [options],
      'The options come first, or after a number.',
    )
    return readAcquire(first, defaults)
  }
  const { waitMs = defaults.untilHeld.waitMs, signal } = readLimits(
    options === undefined ? {} : options,
  )
  const call = 'acquire(permits, options), or acquire(options)'
  return { permits: first === undefined ? 1 : permitsGiven(first, call), waitMs, signal }
}

/** @returns how long a new semaphore exists, in milliseconds; 0 means forever */
export function ttlGiven(options: unknown = {}): number {
  return readTtl(options).ttlMs
}
