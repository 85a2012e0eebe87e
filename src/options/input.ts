import { InvalidArgumentError } from '../errors.ts'
import { show } from '../kit/show.ts'
import { LONGEST_TIMER_MS } from '../kit/timers.ts'

/** The shortest lease, in milliseconds. A shorter lease could expire during one round trip. */
const SHORTEST_LEASE_MS = 10
/**
 * The longest lease, in milliseconds: about 28,000 years. Redis cannot represent the end of a
 * longer lease exactly in a reply. Redisson treats a permit that ends after the year 31,000 as a
 * permit without a lease.
 */
const LONGEST_LEASE_MS = 900_000_000_000_000

/**
 * @param what the subject of the error message
 * @throws `InvalidArgumentError` if `fn` is not a function
 */
export function assertFunction(fn: unknown, what = 'The work to be done'): void {
  if (typeof fn === 'function') return
  throw new InvalidArgumentError(`${what} must be a function; got ${show(fn)}.`)
}

/**
 * @throws `InvalidArgumentError` if there are arguments. The call would ignore them, and the caller
 * may have meant a unit of time
 */
export function assertNoMore(args: readonly unknown[], hint = 'All times are milliseconds.'): void {
  if (args.length === 0) return
  throw new InvalidArgumentError(`Too many arguments; got ${show(args[0])} as well. ${hint}`)
}

/** Accepts any value, for options that need no check or that other code checks. */
export function unchecked(value: unknown): unknown {
  return value
}

export function boolean(value: unknown, what: string): boolean {
  if (typeof value === 'boolean') return value
  throw new InvalidArgumentError(`${what} must be true or false; got ${show(value)}.`)
}

export function text(value: unknown, what: string): string {
  if (typeof value === 'string') return value
  throw new InvalidArgumentError(`${what} must be a string; got ${show(value)}.`)
}

export function abortSignal(value: unknown, what: string): AbortSignal {
  if (value instanceof AbortSignal) return value
  throw new InvalidArgumentError(`${what} must be an AbortSignal; got ${show(value)}.`)
}

export function wholeNumber(
  value: unknown,
  what: string,
  least: number,
  most: number,
  lockName?: string,
): number {
  const number = value as number
  if (Number.isSafeInteger(value) && number >= least && number <= most) return number
  throw new InvalidArgumentError(
    `${what} must be a whole number from ${least} to ${most}; got ${show(value)}.`,
    lockName,
  )
}

/**
 * @param most the largest time, in milliseconds
 * @param instead advice for a caller that gives 0, because the caller may mean "not at all"
 */
export function wholeMs(
  value: unknown,
  what: string,
  most = Number.MAX_SAFE_INTEGER,
  instead = '',
): number {
  const isWhole = Number.isSafeInteger(value) && (value as number) > 0
  if (isWhole && (value as number) <= most) return value as number
  const bound = isWhole ? `, at most ${most}` : ''
  const advice = value === 0 && instead !== '' ? ` ${instead}` : ''
  throw new InvalidArgumentError(
    `${what} must be a positive whole number of milliseconds${bound}; got ${show(value)}.${advice}`,
  )
}

/** Checks a time in milliseconds. The time must not be longer than the longest timer of Node.js. */
export function timerMs(value: unknown, what: string): number {
  return wholeMs(value, what, LONGEST_TIMER_MS)
}

/**
 * Returns a rule that accepts the times that `rule` accepts, and also `Infinity`, which means no
 * limit.
 */
export function orNoLimit(rule: (value: unknown, what: string) => number) {
  return (value: unknown, what: string) => (value === Infinity ? value : rule(value, what))
}

/**
 * Returns the rule for the wait of a call that tries once by default.
 *
 * @param instead the advice for a caller that does not want to wait
 */
export function limitedWaitMs(instead: string) {
  return (value: unknown, what: string) => wholeMs(value, what, undefined, instead)
}

/** Returns the rule for the wait of a call that waits by default. `Infinity` means no limit. */
export function waitMs(instead: string) {
  return (value: unknown, what: string) =>
    value === Infinity ? value : wholeMs(value, what, undefined, instead)
}

/**
 * Checks a lease in milliseconds. Replaces a value above the longest lease by the longest lease.
 *
 * @param most the rule refuses values above this limit; undefined means no limit
 */
export function leaseMs(value: unknown, what: string, most?: number): number {
  const ms = wholeMs(value, what, most)
  if (ms >= SHORTEST_LEASE_MS) return Math.min(ms, LONGEST_LEASE_MS)
  throw new InvalidArgumentError(
    `${what} must be at least ${SHORTEST_LEASE_MS} milliseconds, to leave room for a round trip; got ${ms}.`,
  )
}

/** Checks a `keepMs`. 0 means that the client does not keep the lock. */
export function keepMs(value: unknown, what: string): number {
  return value === 0 ? 0 : timerMs(value, what)
}

/** The rule of `keepMs` for the kinds of locks that a client cannot keep. */
export function refuseKeepMs(_value: unknown, what: string): never {
  throw new InvalidArgumentError(
    `${what} is an option of getLock() only. The server decides which waiter is next for this kind of lock, and calls ` +
      'of a client that keeps the lock would overtake these waiters.',
  )
}

/** @throws `InvalidArgumentError` if the client must not keep locks because of another option */
export function assertMayKeep(keptMs: number, isQuorum: boolean, isDurable: boolean): void {
  if (keptMs === 0 || !(isQuorum || isDurable)) return
  throw new InvalidArgumentError(
    isQuorum
      ? '`keepMs` cannot be combined with `masters`: one server must reserve the tokens for later calls. Use a client with one server.'
      : '`keepMs` cannot be combined with `durability`: the replicas must confirm each acquisition. Leave out one of both.',
  )
}
