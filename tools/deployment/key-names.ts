import { KINDS } from '../kinds/all.ts'

export { derived, leasesOf } from '../kinds/names.ts'

const anyOf = (prefixes: readonly string[]) => [...new Set(prefixes)].join('|')

/** Matches keys that belong to a lock and contain its name. See docs/reference/keys.md. */
const DERIVED = new RegExp(`^(${anyOf(KINDS.flatMap(({ named }) => named))}):(.*)$`, 's')

/**
 * A `SCAN` pattern that matches all of these keys, and also some other keys. An exact pattern is
 * impossible, because patterns of Redis have no alternatives.
 */
export const DERIVED_PATTERN = '[hr][oe][ld][di]*:*'

/** The owner of a hold: `<clientId>:<owner>` of Holdfast, `<uuid>:<thread>` of Redisson. */
const OURS = /^[\w-]{21}:\d+(\/\d+)?(~.*)?(:write|:upgradable)?$/s
const REDISSON = /^[0-9a-f]{8}-[0-9a-f-]{27}:\d+(:write)?$/

export const isRedissons = (owner: string): boolean => REDISSON.test(owner)

/** True for a candidate of an election. No other owner has a `~`, which begins the label. */
export const isCandidates = (owner: string): boolean => OURS.test(owner) && owner.includes('~')

/** The label of a candidate of an election; null for other owners. */
export function candidateLabel(owner: string): string | null {
  const [, encoded] = /^[^:]*:\d+~([^/]+)/.exec(owner) ?? []
  if (encoded === undefined) return null
  try {
    return decodeURIComponent(encoded)
  } catch {
    return null
  }
}

/** True if the hash of a lock may have this field. */
export const isOfLock = (field: string): boolean =>
  field === 'mode' || OURS.test(field) || REDISSON.test(field)

/**
 * True if this is the hash of a held lock: each field is an owner. A read-write lock also has
 * `mode`.
 */
export const isHeldLock = (fields: readonly string[]): boolean =>
  fields.some((field) => field !== 'mode') && fields.every(isOfLock)

/**
 * Matches keys that normally expire. Token counters are left out, because `keepCounters` keeps
 * them. The numbers of latches and semaphores are left out, because they never expire.
 */
const ENDING = new RegExp(
  `^(${anyOf(['holdfast_client', ...KINDS.flatMap(({ expiring }) => expiring)])}):|:rwlock_timeout:\\d+$`,
)

export const endsByItself = (key: string): boolean => ENDING.test(key)

/** The client id at the beginning of an owner or of a waiter. */
export const clientOf = (owner: string): string => owner.replace(/:.*$/s, '')

/** The key of the lock that this key belongs to; undefined for other keys. */
export function lockOf(key: string): string | undefined {
  const name = DERIVED.exec(key)?.[2]
  if (name === undefined) return undefined
  // Removes only the braces that `tagged` has added. A lock name with its own hash tag has no added
  // braces.
  const inner = /^\{([^{}]*)\}$/s.exec(name)?.[1] ?? /^\{([^{]*)\}$/s.exec(name)?.[1]
  return inner ?? name
}

export const processKey = (client: string): string => `holdfast_client:{${client}}`

/** True for the token counter of a lock. */
export const isCounter = (key: string): boolean => key.startsWith('redisson_lock_token:')

/**
 * True if the owner of a permit is unknown, so that its id stands for the owner. For example, older
 * versions of Holdfast do not store the owner.
 */
export const isPermitId = (owner: string): boolean => /^[0-9a-f]{32}$/.test(owner)

/** The id of the client that reports itself in this key; undefined for other keys. */
export const clientIn = (key: string): string | undefined =>
  /^holdfast_client:\{([\w-]{21})\}$/.exec(key)?.[1]
