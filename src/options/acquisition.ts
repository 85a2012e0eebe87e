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

/** What `lock`, `tryLock` and `using` take, and what `tryUsing` does. */
const LOCK_OPTIONS = ['leaseMs', 'renew', 'maxHoldMs', 'waitMs', 'signal']
const TRY_USING_OPTIONS = [...LOCK_OPTIONS, 'otherwise']

/** How an acquisition is meant, from any of the forms of `lock`, `tryLock` and `using`. */
export interface Acquisition {
  /** Undefined where it is that of the client, and renewed. */
  readonly leaseMs: number | undefined
  /** Whether the watchdog renews it. */
  readonly renew: boolean
  /** For how long at most; Infinity without an end. */
  readonly maxHoldMs: number
  /** 0 is not at all, Infinity without an end. */
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
}

/** What acquisitions of one client mean where they say nothing. */
export interface Defaults {
  readonly leaseMs: number
  /** Of `lock` and `using`. */
  readonly untilHeld: Acquisition
  /** Of `tryLock` and `tryUsing`. */
  readonly once: Acquisition
}

/** What a client has set. */
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

/** How the arguments of `lock` are meant: options, or a lease alone. */
export function lockArguments(
  options: unknown,
  others: readonly unknown[],
  defaults: Defaults,
): Acquisition {
  assertNoMore(others)
  const isLease = options !== undefined && typeof options !== 'object'
  return usingOptions(isLease ? { leaseMs: options } : options, defaults)
}

/** How the arguments of `tryLock` are meant: options, or a wait and a lease. */
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

/** How the options of `using` are meant. */
export function usingOptions(options: unknown, defaults: Defaults): Acquisition {
  const { untilHeld } = defaults
  if (options === undefined) return untilHeld
  const given = optionsOf(options, OF_ACQUISITION, LOCK_OPTIONS) as LockOptions
  const wait = given.waitMs === undefined ? untilHeld.waitMs : waitMs(given.waitMs, WAIT_NOT)
  return meant(given, wait, defaults)
}

/** How the options of `tryUsing` are meant. */
export function tryUsingOptions(options: unknown, defaults: Defaults): Acquisition {
  if (options === undefined) return defaults.once
  return tried(optionsOf(options, OF_ACQUISITION, TRY_USING_OPTIONS), defaults)
}

/** What `tryUsing` comes to where the lock was not to be had. */
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
