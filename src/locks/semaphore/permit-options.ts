import {
  type Acquisition,
  type Defaults,
  tryUsingOptions,
  usingOptions,
} from '../../acquisition.ts'
import { InvalidArgumentError, show } from '../../errors.ts'
import { assertKnown, assertNoMore, wholeWaitMs } from '../../input.ts'

export interface PermitOptions {
  /**
   * How many permits to take, all or none: at most 5,000.
   *
   * @default 1
   */
  permits?: number
  /**
   * A fixed lease in milliseconds, at least 10, that is not renewed. Without it the watchdog keeps the permits
   * until the release.
   */
  leaseMs?: number
  /**
   * The longest wait in milliseconds: then the call rejects with `WaitTimeoutError`. `Infinity` is without an
   * end, also where the client has a `waitMs`. 0 is refused.
   *
   * @default the `waitMs` of the client
   */
  waitMs?: number
  /** Ends the wait: the call rejects with `signal.reason`. Once acquired it has no effect. */
  signal?: AbortSignal
}

export interface TryPermitOptions extends PermitOptions {
  /** The longest wait in milliseconds. Without it the permits are asked for once. 0 is refused. */
  waitMs?: number
}

/** How an acquisition of permits is meant. */
export interface PermitAcquisition {
  readonly permits: number
  readonly meant: Acquisition
}

/** In one call: each permit is a member of a set in Redis, which does nothing else meanwhile. */
const MOST_AT_ONCE = 5_000

/** Redisson counts no further. */
const MOST = 2_147_483_647

const OPTIONS = ['permits', 'leaseMs', 'waitMs', 'signal']

/** How the options of `acquire` and `using` are meant. */
export function acquireOptions(
  options: unknown,
  others: readonly unknown[],
  defaults: Defaults,
): PermitAcquisition {
  return resolve(options, others, (rest) => usingOptions(rest, defaults), 'there is tryAcquire().')
}

/** How the options of `tryAcquire` are meant. */
export function tryAcquireOptions(
  options: unknown,
  others: readonly unknown[],
  defaults: Defaults,
): PermitAcquisition {
  return resolve(options, others, (rest) => tryUsingOptions(rest, defaults), 'leave it out.')
}

/** How the options of `tryUsing` are meant. */
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
  if (typeof options !== 'object' || options === null) {
    throw new InvalidArgumentError(
      `The options of an acquisition must be an object, as { permits: 2 }; got ${show(options)}.`,
    )
  }
  assertKnown(Object.keys(options), known)
  const { permits = 1, ...rest } = options as TryPermitOptions
  if (rest.waitMs === 0) wholeWaitMs(0, `To ask once without waiting, ${instead}`)
  return { permits: numberOf(permits, 1, MOST_AT_ONCE), meant: meaning(rest) }
}

/** How many permits a semaphore is to have. */
export function permitsInAll(value: unknown): number {
  return numberOf(value, 0, MOST)
}

/** How many more it is to have; below 0, how many fewer. */
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
