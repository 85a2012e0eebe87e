import { NAMES } from '../../../src/servers/redis/calls/keys.ts'
import { KEY_KINDS } from './kinds/all.ts'

const { report: REPORT } = NAMES.client

/** Matches the keys in which clients report themselves. */
export const CLIENT_PATTERN = `${REPORT}:*`

const anyOf = (prefixes: readonly string[]) => [...new Set(prefixes)].join('|')

/**
 * Matches a key that belongs to a lock, such as a counter or a queue. The second group is the name
 * of the lock, usually in braces. See docs/reference/keys.md.
 */
const DERIVED = new RegExp(`^(${anyOf(KEY_KINDS.flatMap(({ named }) => named))}):(.*)$`, 's')

/**
 * A `SCAN` pattern for all keys that `DERIVED` matches. Also matches some other keys, because
 * patterns of Redis have no alternatives.
 */
export const DERIVED_PATTERN = '[hr][oe][ld][di]*:*'

/**
 * Matches keys that should expire. Does not match token counters, because clients with
 * `keepCounters` keep them forever. Does not match the numbers of latches and semaphores, which
 * never expire.
 */
const ENDING = new RegExp(
  `^(${anyOf([REPORT, ...KEY_KINDS.flatMap(({ expiring }) => expiring)])}):|:rwlock_timeout:\\d+$`,
)

export const endsByItself = (key: string): boolean => ENDING.test(key)

/**
 * Returns the name of the lock to which the key belongs. Undefined if the key belongs to no lock.
 */
export function lockOf(key: string): string | undefined {
  const name = DERIVED.exec(key)?.[2]
  if (name === undefined) return undefined
  // `derived` adds braces around a name without `{`. A lock with the name `{a}` has the same
  // derived keys as the lock `a`, so this code reads both as `a`.
  const inner = /^\{([^{}]*)\}$/s.exec(name)?.[1] ?? /^\{([^{]*)\}$/s.exec(name)?.[1]
  return inner ?? name
}

export const isCounter = (key: string): boolean => key.startsWith(`${NAMES.lock.counter}:`)

const CLIENT = new RegExp(`^${REPORT}:\\{([\\w-]{21})\\}$`)

/** Returns the id of the client that reports itself in this key; undefined for other keys. */
export const clientIn = (key: string): string | undefined => CLIENT.exec(key)?.[1]
