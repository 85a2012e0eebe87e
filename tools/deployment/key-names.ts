import { KINDS } from '../kinds/all.ts'

const anyOf = (prefixes: readonly string[]) => [...new Set(prefixes)].join('|')

/**
 * Matches a key that belongs to a lock, such as a counter or a queue, and captures the name of the
 * lock. See docs/reference/keys.md.
 */
const DERIVED = new RegExp(`^(${anyOf(KINDS.flatMap(({ named }) => named))}):(.*)$`, 's')

/**
 * A `SCAN` pattern that matches all keys that `DERIVED` matches, and some other keys. An exact
 * pattern is impossible, because patterns of Redis have no alternatives.
 */
export const DERIVED_PATTERN = '[hr][oe][ld][di]*:*'

/** Matches an owner id of Holdfast, which begins with `<clientId>:<number>`. */
const OURS = /^[\w-]{21}:\d+(\/\d+)?(~.*)?(:write|:upgradable)?$/s
/** Matches an owner id of Redisson: `<uuid>:<thread>`. */
const REDISSON = /^[0-9a-f]{8}-[0-9a-f-]{27}:\d+(:write)?$/

export const isRedissons = (owner: string): boolean => REDISSON.test(owner)

/**
 * True if the owner is a candidate of an election. Only a candidate has a label, which follows `~`.
 */
export const isCandidates = (owner: string): boolean => OURS.test(owner) && owner.includes('~')

/**
 * Returns the label of a candidate of an election. Null for other owners, and for a label that
 * cannot be decoded.
 */
export function candidateLabel(owner: string): string | null {
  const [, encoded] = /^[^:]*:\d+~([^/]+)/.exec(owner) ?? []
  if (encoded === undefined) return null
  try {
    return decodeURIComponent(encoded)
  } catch {
    return null
  }
}

/** True if the hash of a lock may have this field: an owner, or `mode`. */
export const isOfLock = (field: string): boolean =>
  field === 'mode' || OURS.test(field) || REDISSON.test(field)

/**
 * True if the fields belong to a held lock: at least one owner, and no other field except `mode`.
 */
export const isHeldLock = (fields: readonly string[]): boolean =>
  fields.some((field) => field !== 'mode') && fields.every(isOfLock)

/**
 * Matches keys that normally expire. Token counters do not match, because clients with
 * `keepCounters` keep them forever. The numbers of latches and semaphores do not match, because
 * they never expire.
 */
const ENDING = new RegExp(
  `^(${anyOf(['holdfast_client', ...KINDS.flatMap(({ expiring }) => expiring)])}):|:rwlock_timeout:\\d+$`,
)

export const endsByItself = (key: string): boolean => ENDING.test(key)

/** Returns the client id with which the id of an owner or a waiter begins. */
export const clientOf = (owner: string): string => owner.replace(/:.*$/s, '')

/** Returns the key of the lock to which `key` belongs. Undefined if `key` belongs to no lock. */
export function lockOf(key: string): string | undefined {
  const name = DERIVED.exec(key)?.[2]
  if (name === undefined) return undefined
  // `tagged` adds braces around a name without `{`. A lock that is itself named `{a}` has the same
  // keys as the lock `a`, so both are read as `a`.
  const inner = /^\{([^{}]*)\}$/s.exec(name)?.[1] ?? /^\{([^{]*)\}$/s.exec(name)?.[1]
  return inner ?? name
}

export const processKey = (client: string): string => `holdfast_client:{${client}}`

/** True if the key is the token counter of a lock. */
export const isCounter = (key: string): boolean => key.startsWith('redisson_lock_token:')

/**
 * True if the text is the id of a permit. The id stands for an unknown owner, for example of an
 * older version of Holdfast.
 */
export const isPermitId = (owner: string): boolean => /^[0-9a-f]{32}$/.test(owner)

/** Returns the id of the client that reports itself in this key. Undefined for other keys. */
export const clientIn = (key: string): string | undefined =>
  /^holdfast_client:\{([\w-]{21})\}$/.exec(key)?.[1]
