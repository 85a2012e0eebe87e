import { InvalidArgumentError, show } from '../../errors.ts'
import { assertKnown, assertNoMore, wholeMs } from '../../input.ts'
import { wholeWaitMs } from '../../options.ts'

/** Redisson reads the number of permits as an `int` of Java. */
const MOST_PERMITS = 2_147_483_647

export interface AcquirePermitsOptions {
  /** Ends the wait: the call rejects with `signal.reason`. Once the permits are taken it has no effect. */
  signal?: AbortSignal
}

export interface TryAcquirePermitsOptions extends AcquirePermitsOptions {
  /**
   * How many permits.
   *
   * @default 1
   */
  permits?: number
  /** The longest wait in milliseconds. Without it they are tried for once. 0 is refused. */
  waitMs?: number
}

export interface UsingPermitsOptions extends AcquirePermitsOptions {
  /**
   * How many permits.
   *
   * @default 1
   */
  permits?: number
}

export interface NewSemaphoreOptions {
  /** How long the semaphore lives, in milliseconds; without it until somebody deletes it. */
  ttlMs?: number
}

/** How an acquisition is meant. */
export interface PermitsWanted {
  readonly permits: number
  /** 0 is not at all, Infinity without an end. */
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
}

/** A whole number from 0 up, or an error that shows what it was. */
export function permitsGiven(value: unknown, what: string): number {
  return permitsFrom(0, value, what)
}

/** The same, and also below 0. */
export function anyPermitsGiven(value: unknown, what: string): number {
  return permitsFrom(-MOST_PERMITS, value, what)
}

function permitsFrom(least: number, value: unknown, what: string): number {
  const number = value as number
  if (Number.isInteger(value) && number >= least && number <= MOST_PERMITS) return number
  throw new InvalidArgumentError(
    `${what}: the permits must be a whole number from ${least} to ${MOST_PERMITS}; got ${show(value)}.`,
  )
}

/** How the arguments of `acquire` are meant. */
export function acquireArguments(
  permits: unknown,
  options: unknown,
  others: readonly unknown[],
): PermitsWanted {
  assertNoMore(others)
  const wanted = wantedBy('acquire(permits, options)', options, ['signal'])
  return { ...wanted, permits: permitsGiven(permits ?? 1, 'acquire(permits)'), waitMs: Infinity }
}

/** How the options of `tryAcquire` and `tryUsing` are meant. */
export function tryArguments(what: string, options: unknown): PermitsWanted {
  return wantedBy(what, options, ['permits', 'waitMs', 'signal'])
}

/** How the options of `using` are meant. */
export function usingArguments(options: unknown): PermitsWanted {
  return { ...wantedBy('using(fn, options)', options, ['permits', 'signal']), waitMs: Infinity }
}

/** @returns how long a new semaphore lives, in milliseconds; 0 for good */
export function ttlGiven(options: unknown): number {
  const { ttlMs } = given('trySetPermits(permits, options)', options, ['ttlMs']) as {
    ttlMs?: unknown
  }
  return ttlMs === undefined ? 0 : wholeMs(ttlMs, '`ttlMs`')
}

function wantedBy(what: string, options: unknown, known: readonly string[]): PermitsWanted {
  const { permits = 1, waitMs, signal } = given(what, options, known) as Record<string, unknown>
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new InvalidArgumentError(`\`signal\` must be an AbortSignal; got ${show(signal)}.`)
  }
  return {
    permits: permitsGiven(permits, what),
    waitMs:
      waitMs === undefined ? 0 : wholeWaitMs(waitMs, 'To try once without waiting, leave it out.'),
    signal,
  }
}

function given(what: string, options: unknown, known: readonly string[]): object {
  if (options === undefined) return {}
  if (typeof options !== 'object' || options === null) {
    throw new InvalidArgumentError(
      `${what}: the options must be an object with ${anyOf(known)}; got ${show(options)}.`,
    )
  }
  if (Object.hasOwn(options, 'waitMs') && !known.includes('waitMs')) {
    throw new InvalidArgumentError(
      `${what}: there is no option \`waitMs\` here. To wait no longer than that there are tryAcquire and tryUsing.`,
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
