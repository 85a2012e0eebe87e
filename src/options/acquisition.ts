import { InvalidArgumentError } from '../errors.ts'
import { LONGEST_TIMER_MS } from '../kit/timers.ts'
import {
  assertBoolean,
  assertNoMore,
  assertSignal,
  leaseMs,
  maxHoldMs,
  optionsOf,
  waitMs,
  wholeWaitMs,
} from './input.ts'
import type { LockOptions, TryLockOptions } from './options.ts'

/** The names of the options of `lock`, `tryLock` and `using`. */
const LOCK_OPTIONS = ['leaseMs', 'renew', 'maxHoldMs', 'waitMs', 'signal']
const TRY_USING_OPTIONS = [...LOCK_OPTIONS, 'otherwise']

/**
 * The checked options of one acquisition, by any form of `lock`, `tryLock`, `using` and `tryUsing`.
 */
export interface Acquisition {
  /**
   * The lease of this acquisition, in milliseconds; undefined means the `leaseMs` of the client.
   */
  readonly leaseMs: number | undefined
  /** True if the watchdog renews the lease until the release. */
  readonly renew: boolean
  /** The longest time that the hold may last, in milliseconds; Infinity means no limit. */
  readonly maxHoldMs: number
  /** The longest wait, in milliseconds. 0 tries once; Infinity waits forever. */
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
}

/** The options of an acquisition whose caller gives no options. */
export interface Defaults {
  readonly leaseMs: number
  /** The options of `lock` and `using`. */
  readonly untilHeld: Acquisition
  /** The options of `tryLock` and `tryUsing`. */
  readonly once: Acquisition
}

/** The options of the client that are the defaults of an acquisition. */
interface OfClient {
  readonly leaseMs: number
  readonly waitMs: number
  readonly maxHoldMs: number
}

export function defaultsOf({ leaseMs, waitMs, maxHoldMs }: OfClient): Defaults {
  const untilHeld = { leaseMs: undefined, renew: true, maxHoldMs, waitMs, signal: undefined }
  return { leaseMs, untilHeld, once: { ...untilHeld, waitMs: 0 } }
}

const OF_ACQUISITION = 'The options of an acquisition'

const TRY_ONCE = 'To try once without waiting, leave it out: tryLock() or tryLock({ leaseMs }).'
const WAIT_NOT = 'To try once without waiting, use tryLock() or tryUsing(fn).'

/** Reads the arguments of `lock`: options, or only a lease. */
export function lockArguments(
  options: unknown,
  others: readonly unknown[],
  defaults: Defaults,
): Acquisition {
  assertNoMore(others)
  const isLease = options !== undefined && typeof options !== 'object'
  return usingOptions(isLease ? { leaseMs: options } : options, defaults)
}

/** Reads the arguments of `tryLock`: options, or the longest wait and a lease. */
export function tryLockArguments(
  first: unknown,
  leaseMs: unknown,
  others: readonly unknown[],
  defaults: Defaults,
): Acquisition {
  assertNoMore(others)
  const areTimes = typeof first !== 'object' && (first !== undefined || leaseMs !== undefined)
  const options = areTimes ? { waitMs: first, leaseMs } : first
  if (options === undefined) return defaults.once
  return tried(optionsOf(options, OF_ACQUISITION, LOCK_OPTIONS), defaults)
}

export function usingOptions(options: unknown, defaults: Defaults): Acquisition {
  const { untilHeld } = defaults
  if (options === undefined) return untilHeld
  const given = optionsOf(options, OF_ACQUISITION, LOCK_OPTIONS) as LockOptions
  const wait = given.waitMs === undefined ? untilHeld.waitMs : waitMs(given.waitMs, WAIT_NOT)
  return meant(given, wait, defaults)
}

export function tryUsingOptions(options: unknown, defaults: Defaults): Acquisition {
  if (options === undefined) return defaults.once
  return tried(optionsOf(options, OF_ACQUISITION, TRY_USING_OPTIONS), defaults)
}

/**
 * Returns the result of `tryUsing` for a lock that was not acquired: the option `otherwise`, or
 * null.
 */
export function otherwiseOf<U>(options: { readonly otherwise?: U } | undefined): U {
  const { otherwise } = { otherwise: null as U, ...options }
  return otherwise
}

function tried(given: TryLockOptions, defaults: Defaults): Acquisition {
  const wait = given.waitMs === undefined ? 0 : wholeWaitMs(given.waitMs, TRY_ONCE)
  return meant(given, wait, defaults)
}

function meant(given: LockOptions, waitMs: number, defaults: Defaults): Acquisition {
  const { signal, renew = given.leaseMs === undefined } = given
  assertSignal(signal)
  assertBoolean(renew, '`renew`')
  let lease = renew ? undefined : defaults.leaseMs
  if (given.leaseMs !== undefined) {
    lease = leaseMs(given.leaseMs, '`leaseMs`', renew ? LONGEST_TIMER_MS : undefined)
  }
  return { leaseMs: lease, renew, maxHoldMs: longestHold(given, renew, defaults), waitMs, signal }
}

function longestHold(given: LockOptions, renew: boolean, { untilHeld }: Defaults): number {
  if (given.maxHoldMs === undefined) return renew ? untilHeld.maxHoldMs : Infinity
  const longestMs = maxHoldMs(given.maxHoldMs)
  if (renew) return longestMs
  throw new InvalidArgumentError(
    `\`maxHoldMs\` needs a lease that is renewed; got ${longestMs} with a fixed lease. Add \`renew: true\`, or leave ` +
      '`maxHoldMs` out.',
  )
}
