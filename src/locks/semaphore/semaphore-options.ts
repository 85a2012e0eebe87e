import { InvalidArgumentError } from '../../errors.ts'
import { show } from '../../kit/show.ts'
import type { Defaults } from '../../options/acquisition.ts'
import {
  assertNoMore,
  assertSignal,
  waitMs as longestWait,
  optionsOf,
  wholeMs,
  wholeWaitMs,
} from '../../options/input.ts'

/** The largest number of permits, because Redisson reads the number as an `int` of Java. */
const MOST_PERMITS = 2_147_483_647

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

/** The options of an acquisition, checked and complete. */
export interface PermitsWanted {
  readonly permits: number
  /** The longest wait in milliseconds. 0 means one request without a wait, Infinity means no limit. */
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
}

/**
 * Returns the value if it is a whole number from 0 to 2,147,483,647. Throws for any other value.
 *
 * @param what the call as users write it, for the error
 */
export function permitsGiven(value: unknown, what: string): number {
  return permitsFrom(0, value, what)
}

/** Like `permitsGiven`, but also accepts numbers below 0. */
export function anyPermitsGiven(value: unknown, what: string): number {
  return permitsFrom(-MOST_PERMITS, value, what)
}

function permitsFrom(least: number, value: unknown, what: string): number {
  const number = value as number
  if (Number.isInteger(value) && number >= least && number <= MOST_PERMITS) return number
  throw new InvalidArgumentError(
    `${what}: the permits must be a whole number from ${least} to ${MOST_PERMITS}; got ${show(value)}.`,
  )
}

/** Returns the arguments of `acquire` after a check: either options, or a number of permits and then options. */
export function acquireArguments(
  first: unknown,
  options: unknown,
  others: readonly unknown[],
  { untilHeld }: Defaults,
): PermitsWanted {
  assertNoMore(others)
  const { waitMs } = untilHeld
  if (typeof first === 'object' && first !== null) {
    assertNoMore(
      options === undefined ? [] : [options],
      'The options come first, or after a number.',
    )
    return wantedBy('acquire(options)', first, ['permits', 'waitMs', 'signal'], waitMs)
  }
  const wanted = wantedBy('acquire(permits, options)', options, ['waitMs', 'signal'], waitMs)
  if (first === undefined) return wanted
  return {
    ...wanted,
    permits: permitsGiven(first, 'acquire(permits, options), or acquire(options)'),
  }
}

export function tryArguments(
  what: string,
  options: unknown,
  more: readonly string[] = [],
): PermitsWanted {
  return wantedBy(what, options, ['permits', 'waitMs', 'signal', ...more])
}

export function usingArguments(options: unknown, { untilHeld }: Defaults): PermitsWanted {
  return wantedBy('using(fn, options)', options, ['permits', 'waitMs', 'signal'], untilHeld.waitMs)
}

/** @returns how long a new semaphore exists, in milliseconds; 0 means forever */
export function ttlGiven(options: unknown): number {
  const { ttlMs } = given('trySetPermits(permits, options)', options, ['ttlMs']) as {
    ttlMs?: unknown
  }
  return ttlMs === undefined ? 0 : wholeMs(ttlMs, '`ttlMs`')
}

/** @param defaultWaitMs the longest wait without the option `waitMs`. Undefined for calls that then do not wait */
function wantedBy(
  what: string,
  options: unknown,
  known: readonly string[],
  defaultWaitMs?: number,
): PermitsWanted {
  const { permits = 1, waitMs, signal } = given(what, options, known) as Record<string, unknown>
  assertSignal(signal)
  return {
    permits: permitsGiven(permits, what),
    waitMs: defaultWaitMs === undefined ? triedMs(waitMs) : waitedMs(waitMs, defaultWaitMs),
    signal,
  }
}

function triedMs(waitMs: unknown): number {
  if (waitMs === undefined) return 0
  return wholeWaitMs(waitMs, 'To try once without waiting, leave it out.')
}

function waitedMs(waitMs: unknown, defaultMs: number): number {
  if (waitMs === undefined) return defaultMs
  return longestWait(waitMs, 'To try once without waiting, use tryAcquire().')
}

function given(what: string, options: unknown, known: readonly string[]): object {
  if (options === undefined) return {}
  return optionsOf(options, `${what}: the options`, known)
}
