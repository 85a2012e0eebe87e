import { InvalidArgumentError } from '../errors.ts'
import { show } from '../kit/show.ts'

/** A lease must leave room for a round trip, and for drift and margin. */
const SHORTEST_LEASE_MS = 10
/**
 * 28,000 years: the moment at which a longer one ends is no exact number in a reply of Redis, and Redisson takes a
 * permit for one without a lease if it ends after year 31,000.
 */
const LONGEST_LEASE_MS = 900_000_000_000_000

/**
 * @param what it is, at the beginning of a sentence
 * @throws `InvalidArgumentError` before anything is done that the function was to follow
 */
export function assertFunction(fn: unknown, what = 'The work to be done'): void {
  if (typeof fn === 'function') return
  throw new InvalidArgumentError(`${what} must be a function; got ${show(fn)}.`)
}

/** @throws `InvalidArgumentError` for arguments that would be passed over, such as a unit of time */
export function assertNoMore(args: readonly unknown[], hint = 'All times are milliseconds.'): void {
  if (args.length === 0) return
  throw new InvalidArgumentError(`Too many arguments; got ${show(args[0])} as well. ${hint}`)
}

/** A name that is not known may be a misspelt one. */
export function assertKnown(names: readonly string[], known: readonly string[], hint = ''): void {
  const other = names.find((name) => !known.includes(name))
  if (other === undefined) return
  throw new InvalidArgumentError(
    `There is no option \`${other}\` here. There are: ${known.join(', ')}.${hint}`,
  )
}

/**
 * The options of a call, all of them known ones.
 *
 * @param what they are, at the beginning of a sentence
 */
export function optionsOf(options: unknown, what: string, known: readonly string[]): object {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidArgumentError(
      `${what} must be an object with ${anyOf(known)}; got ${show(options)}.`,
    )
  }
  assertKnown(Object.keys(options), known)
  return options
}

/** As in "`permits`, `waitMs` or `signal`". */
function anyOf(names: readonly string[]): string {
  const quoted = names.map((name) => `\`${name}\``)
  const last = quoted.pop() ?? ''
  return quoted.length === 0 ? last : `${quoted.join(', ')} or ${last}`
}

export function assertBoolean(value: unknown, what: string): asserts value is boolean {
  if (typeof value === 'boolean') return
  throw new InvalidArgumentError(`${what} must be true or false; got ${show(value)}.`)
}

/** A positive whole number of milliseconds, or an error that shows what it was. */
export function wholeMs(value: unknown, what: string, most = Number.MAX_SAFE_INTEGER): number {
  const isWhole = Number.isSafeInteger(value) && (value as number) > 0
  if (isWhole && (value as number) <= most) return value as number
  const bound = isWhole ? `, at most ${most}` : ''
  throw new InvalidArgumentError(
    `${what} must be a positive whole number of milliseconds${bound}; got ${show(value)}.`,
  )
}

/**
 * The same where 0 may have been meant as not at all.
 *
 * @param instead what to do for that
 */
export function wholeMsNotZero(
  value: unknown,
  what: string,
  instead: string,
  most?: number,
): number {
  if (value !== 0) return wholeMs(value, what, most)
  throw new InvalidArgumentError(
    `${what} must be a positive whole number of milliseconds; got 0. ${instead}`,
  )
}

/** @param instead what to do where nobody is to wait */
export function wholeWaitMs(value: unknown, instead: string): number {
  return wholeMsNotZero(value, '`waitMs`', instead)
}

/** The same where `Infinity` is without an end. */
export function waitMs(value: unknown, instead: string): number {
  return value === Infinity ? value : wholeWaitMs(value, instead)
}

export function maxHoldMs(value: unknown): number {
  return value === Infinity ? value : leaseMs(value, '`maxHoldMs`')
}

export function assertSignal(signal: unknown): asserts signal is AbortSignal | undefined {
  if (signal === undefined || signal instanceof AbortSignal) return
  throw new InvalidArgumentError(`\`signal\` must be an AbortSignal; got ${show(signal)}.`)
}

/** A lease in milliseconds. One beyond the longest counts as the longest. */
export function leaseMs(value: unknown, what: string, most?: number): number {
  const ms = wholeMs(value, what, most)
  if (ms >= SHORTEST_LEASE_MS) return Math.min(ms, LONGEST_LEASE_MS)
  throw new InvalidArgumentError(
    `${what} must be at least ${SHORTEST_LEASE_MS} milliseconds, to leave room for a round trip; got ${ms}.`,
  )
}
