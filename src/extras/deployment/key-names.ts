/** The keys that belong to a lock and contain its name: docs/reference/keys.md. */
const DERIVED =
  /^(redisson_lock_token|redisson_lock_queue|holdfast_(?:queue|waiting|readers|writers|round|permit_queue|kind)):(.*)$/s

/**
 * A `SCAN` pattern that matches at least all of these keys. A pattern of Redis has no alternatives.
 */
export const DERIVED_PATTERN = '[hr][oe][ld][di]*:*'

/** The owner of a hold: `<clientId>:<owner>` of Holdfast, `<uuid>:<thread>` of Redisson. */
const OURS = /^[\w-]{21}:\d+(\/\d+)?(~.*)?(:write|:upgradable)?$/s
const REDISSON = /^[0-9a-f]{8}-[0-9a-f-]{27}:\d+(:write)?$/

export const isRedissons = (owner: string): boolean => REDISSON.test(owner)

/** True for a candidate of an election, because only its owner name contains a label. */
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
 * Keys that normally expire. Counters do not expire with `keepCounters`. The numbers of latches and
 * semaphores never expire.
 */
const ENDING =
  /^holdfast_(queue|waiting|readers|writers|alive|phase|forced|request|permit_queue|permit_waiters|permit_holders|kind|client):|:rwlock_timeout:\d+$/

export const endsByItself = (key: string): boolean => ENDING.test(key)

/** The id of the client of an owner or of a waiter. */
export const clientOf = (owner: string): string => owner.replace(/:.*$/s, '')

/** The key of the lock that this key belongs to; undefined for other keys. */
export function lockOf(key: string): string | undefined {
  const name = DERIVED.exec(key)?.[2]
  if (name === undefined) return undefined
  // A lock name with its own hash tag is stored without braces around it.
  const inner = /^\{([^{}]*)\}$/s.exec(name)?.[1] ?? /^\{([^{]*)\}$/s.exec(name)?.[1]
  return inner ?? name
}

const tagged = (key: string): string => (key.includes('{') ? key : `{${key}}`)

/** The key that belongs to a lock, from its prefix and the key of the lock. */
export const derived = (prefix: string, key: string): string => `${prefix}:${tagged(key)}`

/** The keys of the leases of readers and permits begin with this text. */
export const leasesOf = tagged

export const processKey = (client: string): string => `holdfast_client:{${client}}`

/** True for the token counter of a lock. */
export const isCounter = (key: string): boolean => key.startsWith('redisson_lock_token:')

/**
 * True if a permit id stands for the owner, because an older version of Holdfast acquired the
 * permit.
 */
export const isPermitId = (owner: string): boolean => /^[0-9a-f]{32}$/.test(owner)

/** The id of the client that reports itself in this key; undefined for other keys. */
export const clientIn = (key: string): string | undefined =>
  /^holdfast_client:\{([\w-]{21})\}$/.exec(key)?.[1]
