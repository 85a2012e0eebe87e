import {
  type Acquisition,
  acquisitionOf,
  type Defaults,
  LOCK_OPTIONS,
} from '../../options/acquisition.ts'
import { assertNoMore, limitedWaitMs, unchecked, waitMs, wholeNumber } from '../../options/input.ts'
import { or, shape } from '../../options/shape.ts'
import { MOST_PERMITS } from './semaphore-options.ts'

export interface PermitSemaphoreOptions {
  /**
   * The total number of permits: a whole number from 0 to 2,147,483,647. An acquisition sets this number if Redis has
   * no number: no client has set it, or Redis has lost its data. If Redis has another number, the number in Redis
   * counts, and the client warns once (`HOLDFAST_PERMITS_DIFFER`).
   *
   * @default none: `setPermits` or `trySetPermits` sets the number
   */
  permits?: number
}

export interface PermitOptions {
  /**
   * How many permits to acquire, all or none: at most 5,000.
   *
   * @default 1
   */
  permits?: number
  /**
   * A lease for this acquisition in milliseconds, at least 10. The lease is fixed, unless `renew` is true. Without
   * `leaseMs`, the lease has the client's `leaseMs`, and the watchdog renews it until the release.
   */
  leaseMs?: number
  /**
   * If true, the watchdog renews the lease until the release, each time a third of the lease has passed.
   *
   * @default false with a `leaseMs`, true without
   */
  renew?: boolean
  /**
   * The longest time for which the permits are held, in milliseconds, at least 10. The watchdog does not renew the
   * lease beyond this time, and the signal of the lease aborts shortly before. `Infinity` means no limit, even when the
   * client has a `maxHoldMs`. Only for leases that the watchdog renews.
   *
   * @default the `maxHoldMs` of the client
   */
  maxHoldMs?: number
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

export interface TryPermitOptions extends PermitOptions {
  /** The longest wait in milliseconds. Without `waitMs`, the call sends one request. 0 is invalid. */
  waitMs?: number
}

/** The checked options of an acquisition of permits, with the defaults of the client. */
export interface PermitAcquisition extends Acquisition {
  readonly permits: number
}

/**
 * The largest number of permits in one call. Each permit is a member of a set in Redis, and Redis serves no other
 * client while it adds these members.
 */
const MOST_AT_ONCE = 5_000

const WHAT = 'The number of permits'

const OPTIONS = {
  permits: or((value) => wholeNumber(value, WHAT, 1, MOST_AT_ONCE), 1),
  ...LOCK_OPTIONS,
  waitMs: waitMs('To ask once without waiting, use tryAcquire().'),
}
const TRY_OPTIONS = {
  ...OPTIONS,
  waitMs: limitedWaitMs('To ask once without waiting, leave it out.'),
}
const TRY_USING_OPTIONS = { ...TRY_OPTIONS, otherwise: unchecked }

/**
 * Makes a function that checks the options of a call which acquires permits.
 *
 * @param by the name of the client's defaults for this call
 */
function reader(rules: typeof OPTIONS, by: 'untilHeld' | 'once') {
  const read = shape('The options of an acquisition', rules)
  return (
    options: unknown = {},
    others: readonly unknown[],
    defaults: Defaults,
  ): PermitAcquisition => {
    assertNoMore(others)
    return acquisitionOf(read(options), defaults[by], defaults)
  }
}

export const acquireOptions = reader(OPTIONS, 'untilHeld')
export const tryAcquireOptions = reader(TRY_OPTIONS, 'once')
export const tryUsingOptions = reader(TRY_USING_OPTIONS, 'once')

const readSemaphoreOptions = shape('getPermitExpirableSemaphore(name, options): the options', {
  permits: permitsInAll,
})

/** @returns the total number of permits; undefined if the options do not contain it */
export function limitGiven(options: unknown = {}): number | undefined {
  return readSemaphoreOptions(options).permits
}

/**
 * Returns `value` if it is a whole number from 0 to 2,147,483,647. Throws `InvalidArgumentError`
 * for any other value.
 */
export function permitsInAll(value: unknown): number {
  return wholeNumber(value, WHAT, 0, MOST_PERMITS)
}

/**
 * Returns how many permits to add; below 0 if permits are removed. Throws `InvalidArgumentError`
 * for an invalid number.
 */
export function permitsMore(value: unknown): number {
  return wholeNumber(value, WHAT, -MOST_PERMITS, MOST_PERMITS)
}
