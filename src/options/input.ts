import { InvalidArgumentError } from '../errors.ts'
import { show } from '../kit/show.ts'

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
 * @throws `InvalidArgumentError` if there are arguments. Such arguments would be ignored, and the
 * caller may mean a unit of time
 */
export function assertNoMore(args: readonly unknown[], hint = 'All times are milliseconds.'): void {
  if (args.length === 0) return
  throw new InvalidArgumentError(`Too many arguments; got ${show(args[0])} as well. ${hint}`)
}

/**
 * @param names the names of the given options
 * @throws `InvalidArgumentError` for an unknown name, because it may be misspelt
 */
export function assertKnown(names: readonly string[], known: readonly string[], hint = ''): void {
  const other = names.find((name) => !known.includes(name))
  if (other === undefined) return
  throw new InvalidArgumentError(
    `There is no option \`${other}\` here. There are: ${known.join(', ')}.${hint}`,
  )
}

/**
 * Returns the options. Throws for a value that is not an object, and for an option with an unknown
 * name.
 *
 * @param what the subject of the error message
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

/** Returns the names as text, such as "`permits`, `waitMs` or `signal`". */
function anyOf(names: readonly string[]): string {
  const quoted = names.map((name) => `\`${name}\``)
  const last = quoted.pop() ?? ''
  return quoted.length === 0 ? last : `${quoted.join(', ')} or ${last}`
}

export function assertBoolean(value: unknown, what: string): asserts value is boolean {
  if (typeof value === 'boolean') return
  throw new InvalidArgumentError(`${what} must be true or false; got ${show(value)}.`)
}

/**
 * Returns the value. Throws unless it is a positive whole number of milliseconds, at most `most`.
 */
export function wholeMs(value: unknown, what: string, most = Number.MAX_SAFE_INTEGER): number {
  const isWhole = Number.isSafeInteger(value) && (value as number) > 0
  if (isWhole && (value as number) <= most) return value as number
  const bound = isWhole ? `, at most ${most}` : ''
  throw new InvalidArgumentError(
    `${what} must be a positive whole number of milliseconds${bound}; got ${show(value)}.`,
  )
}

/**
 * Like `wholeMs`, but the error for 0 contains advice, because the caller may mean "not at all".
 *
 * @param instead the advice: which call does this
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

/** @param instead the advice for a caller that does not want to wait */
export function wholeWaitMs(value: unknown, instead: string): number {
  return wholeMsNotZero(value, '`waitMs`', instead)
}

/** Like `wholeWaitMs`, but also accepts `Infinity` for no limit. */
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

/**
 * Returns a lease in milliseconds. A value above the longest lease is replaced by the longest
 * lease.
 *
 * @param most values above this limit are refused
 */
export function leaseMs(value: unknown, what: string, most?: number): number {
  const ms = wholeMs(value, what, most)
  if (ms >= SHORTEST_LEASE_MS) return Math.min(ms, LONGEST_LEASE_MS)
  throw new InvalidArgumentError(
    `${what} must be at least ${SHORTEST_LEASE_MS} milliseconds, to leave room for a round trip; got ${ms}.`,
  )
}
