import { InvalidArgumentError } from '../../errors.ts'
import { show } from '../../kit/show.ts'
import {
  type Acquisition,
  type Defaults,
  tryUsingOptions,
  usingOptions,
} from '../../options/acquisition.ts'
import { assertNoMore, optionsOf, wholeWaitMs } from '../../options/input.ts'

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

/** The options of an acquisition of permits, checked and complete. */
export interface PermitAcquisition {
  readonly permits: number
  readonly meant: Acquisition
}

/**
 * The largest number of permits in one call. Each permit is a member of a set in Redis, and Redis serves no other
 * client while it adds these members.
 */
const MOST_AT_ONCE = 5_000

/** The largest total number of permits, because the number is an `int` in Redisson. */
const MOST = 2_147_483_647

const OPTIONS = ['permits', 'leaseMs', 'renew', 'maxHoldMs', 'waitMs', 'signal']

export function acquireOptions(
  options: unknown,
  others: readonly unknown[],
  defaults: Defaults,
): PermitAcquisition {
  return resolve(options, others, (rest) => usingOptions(rest, defaults), 'use tryAcquire().')
}

export function tryAcquireOptions(
  options: unknown,
  others: readonly unknown[],
  defaults: Defaults,
): PermitAcquisition {
  return resolve(options, others, (rest) => tryUsingOptions(rest, defaults), 'leave it out.')
}

export function tryUsingPermits(options: unknown, defaults: Defaults): PermitAcquisition {
  const meaning = (rest: unknown) => tryUsingOptions(rest, defaults)
  return resolve(options, [], meaning, 'leave it out.', [...OPTIONS, 'otherwise'])
}

function resolve(
  options: unknown,
  others: readonly unknown[],
  meaning: (options: unknown) => Acquisition,
  instead: string,
  known = OPTIONS,
): PermitAcquisition {
  assertNoMore(others)
  if (options === undefined) return { permits: 1, meant: meaning(undefined) }
  const given = optionsOf(options, 'The options of an acquisition', known) as TryPermitOptions
  const { permits = 1, ...rest } = given
  // The other options are the same as for locks. For a `waitMs` of 0, the error of permits suggests another method.
  if (rest.waitMs === 0) wholeWaitMs(0, `To ask once without waiting, ${instead}`)
  return { permits: numberOf(permits, 1, MOST_AT_ONCE), meant: meaning(rest) }
}

/** @returns the total number of permits; undefined if the options do not contain it */
export function limitGiven(options: unknown): number | undefined {
  if (options === undefined) return undefined
  const what = 'getPermitExpirableSemaphore(name, options): the options'
  const { permits } = optionsOf(options, what, ['permits']) as PermitSemaphoreOptions
  return permits === undefined ? undefined : permitsInAll(permits)
}

/** Returns the total number of permits after a check. */
export function permitsInAll(value: unknown): number {
  return numberOf(value, 0, MOST)
}

/** Returns how many permits to add, after a check. A number below 0 removes permits. */
export function permitsMore(value: unknown): number {
  return numberOf(value, -MOST, MOST)
}

function numberOf(value: unknown, least: number, most: number): number {
  if (Number.isSafeInteger(value)) {
    const number = value as number
    if (number >= least && number <= most) return number
  }
  throw new InvalidArgumentError(
    `The number of permits must be a whole number from ${least} to ${most}; got ${show(value)}.`,
  )
}
