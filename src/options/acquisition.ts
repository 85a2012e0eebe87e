import { InvalidArgumentError } from '../errors.ts'
import { LONGEST_TIMER_MS } from '../kit/timers.ts'
import {
  abortSignal,
  assertNoMore,
  boolean,
  leaseMs,
  limitedWaitMs,
  orNoLimit,
  unchecked,
  waitMs,
} from './input.ts'
import { shape } from './shape.ts'

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

/** The options that count if a call gives no options. */
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

const TRY_ONCE = 'To try once without waiting, leave it out: tryLock() or tryLock({ leaseMs }).'
const WAIT_NOT = 'To try once without waiting, use tryLock() or tryUsing(fn).'

/**
 * The rules for the options of `lock` and `using`, and for most options of permits. `acquisitionOf` checks `leaseMs`,
 * because the rule for `leaseMs` depends on `renew`.
 */
export const LOCK_OPTIONS = {
  leaseMs: unchecked,
  renew: boolean,
  maxHoldMs: orNoLimit(leaseMs),
  waitMs: waitMs(WAIT_NOT),
  signal: abortSignal,
}

const TRY_OPTIONS = { ...LOCK_OPTIONS, waitMs: limitedWaitMs(TRY_ONCE) }

const OF_ACQUISITION = 'The options of an acquisition'
const readLockOptions = shape(OF_ACQUISITION, LOCK_OPTIONS)
const readTryOptions = shape(OF_ACQUISITION, TRY_OPTIONS)
const readTryUsingOptions = shape(OF_ACQUISITION, { ...TRY_OPTIONS, otherwise: unchecked })

type LockOptionValues = ReturnType<typeof readLockOptions>

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
  if (typeof first === 'object' && first !== null && leaseMs !== undefined) assertNoMore([leaseMs])
  const areTimes = typeof first !== 'object' && (first !== undefined || leaseMs !== undefined)
  const options = areTimes ? { waitMs: first, leaseMs } : first
  if (options === undefined) return defaults.once
  return acquisitionOf(readTryOptions(options), defaults.once, defaults)
}

export function usingOptions(options: unknown, defaults: Defaults): Acquisition {
  const { untilHeld } = defaults
  if (options === undefined) return untilHeld
  return acquisitionOf(readLockOptions(options), untilHeld, defaults)
}

export function tryUsingOptions(options: unknown, defaults: Defaults): Acquisition {
  const { once } = defaults
  if (options === undefined) return once
  return acquisitionOf(readTryUsingOptions(options), once, defaults)
}

/**
 * Returns the result of `tryUsing` if the lock was not acquired: the option `otherwise`, or null.
 */
export function otherwiseOf<U>(options: { readonly otherwise?: U } | undefined): U {
  return options !== undefined && 'otherwise' in options ? (options.otherwise as U) : (null as U)
}

/**
 * Checks `leaseMs` and `maxHoldMs`, adds the missing options to `given`, and returns `given`. A new object would make
 * each call of `lock` slower.
 *
 * @param usual the acquisition of a call without options
 */
export function acquisitionOf<T extends LockOptionValues>(
  given: T,
  usual: Acquisition,
  defaults: Defaults,
) {
  const hasLease = given.leaseMs !== undefined
  given.renew ??= !hasLease
  const { renew } = given
  if (hasLease) {
    given.leaseMs = leaseMs(given.leaseMs, '`leaseMs`', renew ? LONGEST_TIMER_MS : undefined)
  } else if (!renew) {
    given.leaseMs = defaults.leaseMs
  }
  if (!renew && given.maxHoldMs !== undefined) {
    throw new InvalidArgumentError(
      `\`maxHoldMs\` needs a lease that is renewed; got ${given.maxHoldMs} with a fixed lease. Add \`renew: true\`, or ` +
        'leave `maxHoldMs` out.',
    )
  }
  given.maxHoldMs ??= renew ? usual.maxHoldMs : Infinity
  given.waitMs ??= usual.waitMs
  return given as T & Acquisition
}
