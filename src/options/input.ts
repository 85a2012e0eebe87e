import { InvalidArgumentError } from '../errors.ts'
import { show } from '../kit/show.ts'

/** A lease must leave room for a round trip, and for drift and margin. */
const SHORTEST_LEASE_MS = 10
/**
 * About 28,000 years. The end of a longer lease is not an exact number in a reply of Redis. If a
 * permit ends after the year 31,000, Redisson treats it as a permit without a lease.
 */
const LONGEST_LEASE_MS = 900_000_000_000_000

/**
 * @param what the subject of the message
 * @throws `InvalidArgumentError`. It is called before any step that `fn` was to follow
 */
export function assertFunction(fn: unknown, what = 'The work to be done'): void {
  if (typeof fn === 'function') return
  throw new InvalidArgumentError(`${what} must be a function; got ${show(fn)}.`)
}

/** @throws `InvalidArgumentError` for arguments that would be ignored, such as a unit of time */
export function assertNoMore(args: readonly unknown[], hint = 'All times are milliseconds.'): void {
  if (args.length === 0) return
  throw new InvalidArgumentError(`Too many arguments; got ${show(args[0])} as well. ${hint}`)
}

/** @throws `InvalidArgumentError` for an unknown name, because it may be misspelt */
export function assertKnown(names: readonly string[], known: readonly string[], hint = ''): void {
  const other = names.find((name) => !known.includes(name))
  if (other === undefined) return
  throw new InvalidArgumentError(
    `There is no option \`${other}\` here. There are: ${known.join(', ')}.${hint}`,
  )
}

/**
 * Returns the options of a call. Unknown names are refused.
 *
 * @param what the subject of the message
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

/** Returns a list in words, as in "`permits`, `waitMs` or `signal`". */
function anyOf(names: readonly string[]): string {
  const quoted = names.map((name) => `\`${name}\``)
  const last = quoted.pop() ?? ''
  return quoted.length === 0 ? last : `${quoted.join(', ')} or ${last}`
}

export function assertBoolean(value: unknown, what: string): asserts value is boolean {
  if (typeof value === 'boolean') return
  throw new InvalidArgumentError(`${what} must be true or false; got ${show(value)}.`)
}

/** Returns a positive whole number of milliseconds. An error shows any other value. */
export function wholeMs(value: unknown, what: string, most = Number.MAX_SAFE_INTEGER): number {
  const isWhole = Number.isSafeInteger(value) && (value as number) > 0
  if (isWhole && (value as number) <= most) return value as number
  const bound = isWhole ? `, at most ${most}` : ''
  throw new InvalidArgumentError(
    `${what} must be a positive whole number of milliseconds${bound}; got ${show(value)}.`,
  )
}

/**
 * Like `wholeMs`, with advice for 0, because the caller may mean "not at all".
 *
 * @param instead how to get that
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

/** @param instead the advice for a call that should not wait */
export function wholeWaitMs(value: unknown, instead: string): number {
  return wholeMsNotZero(value, '`waitMs`', instead)
}

/** Like `wholeWaitMs`, but `Infinity` is allowed: it means no limit. */
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

/** Returns a lease in milliseconds. A lease beyond the longest is cut to the longest. */
export function leaseMs(value: unknown, what: string, most?: number): number {
  const ms = wholeMs(value, what, most)
  if (ms >= SHORTEST_LEASE_MS) return Math.min(ms, LONGEST_LEASE_MS)
  throw new InvalidArgumentError(
    `${what} must be at least ${SHORTEST_LEASE_MS} milliseconds, to leave room for a round trip; got ${ms}.`,
  )
}
