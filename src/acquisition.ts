import { InvalidArgumentError, show } from './errors.ts'
import { assertKnown, assertNoMore, assertSignal, leaseMs, waitMs, wholeWaitMs } from './input.ts'
import type { LockOptions, TryLockOptions } from './options.ts'
import type { Settings } from './settings.ts'

/** What `lock` and `using` take, what `tryLock` does, and what `tryUsing` does. */
const LOCK_OPTIONS = ['leaseMs', 'waitMs', 'signal']
const TRY_LOCK_OPTIONS = ['waitMs', 'leaseMs', 'signal']
const TRY_USING_OPTIONS = [...TRY_LOCK_OPTIONS, 'otherwise']

/** How an acquisition is meant, from any of the forms of `lock`, `tryLock` and `using`. */
export interface Acquisition {
  readonly leaseMs: number | undefined
  /** 0 is not at all, Infinity without an end. */
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
}

/** What acquisitions of one client mean where they say nothing. */
export interface Defaults {
  /** Of `lock` and `using`. */
  readonly untilHeld: Acquisition
  /** Of `tryLock` and `tryUsing`. */
  readonly once: Acquisition
}

export function defaultsOf({ waitMs }: Settings): Defaults {
  const untilHeld = { leaseMs: undefined, waitMs, signal: undefined }
  return { untilHeld, once: { ...untilHeld, waitMs: 0 } }
}

const TRY_ONCE = 'To try once without waiting, leave it out: tryLock() or tryLock({ leaseMs }).'
const WAIT_NOT = 'To try once without waiting there are tryLock() and tryUsing(fn).'

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
  { once }: Defaults,
): Acquisition {
  assertNoMore(others)
  const areTimes = typeof first !== 'object' && (first !== undefined || leaseMs !== undefined)
  const options = areTimes ? { waitMs: first, leaseMs } : first
  return options === undefined ? once : tried(optionsIn(options, TRY_LOCK_OPTIONS), once)
}

/** How the options of `using` are meant. */
export function usingOptions(options: unknown, { untilHeld }: Defaults): Acquisition {
  if (options === undefined) return untilHeld
  const given = optionsIn(options, LOCK_OPTIONS)
  const wait = given.waitMs === undefined ? untilHeld.waitMs : waitMs(given.waitMs, WAIT_NOT)
  return meant(given, wait)
}

/** How the options of `tryUsing` are meant. */
export function tryUsingOptions(options: unknown, { once }: Defaults): Acquisition {
  return options === undefined ? once : tried(optionsIn(options, TRY_USING_OPTIONS), once)
}

/** What `tryUsing` comes to where the lock was not to be had. */
export function otherwiseOf<U>(options: { readonly otherwise?: U } | undefined): U {
  const { otherwise } = { otherwise: null as U, ...options }
  return otherwise
}

function optionsIn(options: unknown, known: readonly string[]): LockOptions {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidArgumentError(`Lock options must be an object; got ${show(options)}.`)
  }
  assertKnown(Object.keys(options), known)
  return options
}

function tried(given: TryLockOptions, once: Acquisition): Acquisition {
  const wait = given.waitMs === undefined ? once.waitMs : wholeWaitMs(given.waitMs, TRY_ONCE)
  return meant(given, wait)
}

function meant(given: LockOptions, waitMs: number): Acquisition {
  assertSignal(given.signal)
  return {
    leaseMs: given.leaseMs === undefined ? undefined : leaseMs(given.leaseMs, '`leaseMs`'),
    waitMs,
    signal: given.signal,
  }
}
