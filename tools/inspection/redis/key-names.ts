import { NAMES } from '../../../src/servers/redis/calls/keys.ts'
import { KEY_KINDS } from './kinds/all.ts'

const { report: REPORT } = NAMES.client

/** Matches the keys in which clients report themselves. */
export const CLIENT_PATTERN = `${REPORT}:*`

const anyOf = (prefixes: readonly string[]) => [...new Set(prefixes)].join('|')

/**
 * Matches a key that belongs to a lock, such as a counter or a queue, and captures the name of the
 * lock. See docs/reference/keys.md.
 */
const DERIVED = new RegExp(`^(${anyOf(KEY_KINDS.flatMap(({ named }) => named))}):(.*)$`, 's')

/**
 * A `SCAN` pattern that matches all keys that `DERIVED` matches, and some other keys. An exact
 * pattern is impossible, because patterns of Redis have no alternatives.
 */
export const DERIVED_PATTERN = '[hr][oe][ld][di]*:*'

/**
 * Matches keys that normally expire. Token counters do not match, because clients with
 * `keepCounters` keep token counters forever. The numbers of latches and semaphores do not match,
 * because these keys never expire.
 */
const ENDING = new RegExp(
  `^(${anyOf([REPORT, ...KEY_KINDS.flatMap(({ expiring }) => expiring)])}):|:rwlock_timeout:\\d+$`,
)

export const endsByItself = (key: string): boolean => ENDING.test(key)

/** Returns the key of the lock to which `key` belongs. Undefined if `key` belongs to no lock. */
export function lockOf(key: string): string | undefined {
  const name = DERIVED.exec(key)?.[2]
  if (name === undefined) return undefined
  // `derived` adds braces around a name without `{`. A lock that is itself named `{a}` has the same
  // keys as the lock `a`, so both are read as `a`.
  const inner = /^\{([^{}]*)\}$/s.exec(name)?.[1] ?? /^\{([^{]*)\}$/s.exec(name)?.[1]
  return inner ?? name
}

export const isCounter = (key: string): boolean => key.startsWith(`${NAMES.lock.counter}:`)

const CLIENT = new RegExp(`^${REPORT}:\\{([\\w-]{21})\\}$`)

/** Returns the id of the client that reports itself in this key. Undefined for other keys. */
export const clientIn = (key: string): string | undefined => CLIENT.exec(key)?.[1]
