/** The names of keys that tell of a lock, and of which one: docs/reference/keys.md. */
const DERIVED =
  /^(redisson_lock_token|redisson_lock_queue|holdfast_(?:queue|waiting|readers|writers|round|permit_queue|kind)):(.*)$/s

/** What `SCAN` is asked for to find all of these, which a pattern of Redis cannot name one by one. */
export const DERIVED_PATTERN = '[hr][oe][ld][di]*:*'

/** The owner of a hold: `<clientId>:<owner>` of ours, `<uuid>:<thread>` of Redisson's. */
const OURS = /^[\w-]{21}:\d+(\/\d+)?(~.*)?(:write|:upgradable)?$/s
const REDISSON = /^[0-9a-f]{8}-[0-9a-f-]{27}:\d+(:write)?$/

export const isRedissons = (owner: string): boolean => REDISSON.test(owner)

/** True for a candidate of an election: its label stands in the name. */
export const isCandidates = (owner: string): boolean => OURS.test(owner) && owner.includes('~')

/** The label of a candidate of an election; null for another owner. */
export function candidateLabel(owner: string): string | null {
  const [, encoded] = /^[^:]*:\d+~([^/]+)/.exec(owner) ?? []
  if (encoded === undefined) return null
  try {
    return decodeURIComponent(encoded)
  } catch {
    return null
  }
}

/** Whether a field of a hash is one that the hash of a lock has. */
export const isOfLock = (field: string): boolean =>
  field === 'mode' || OURS.test(field) || REDISSON.test(field)

/** Whether a hash is one of a lock that somebody has: each field is an owner; one read-write has its mode beside them. */
export const isHeldLock = (fields: readonly string[]): boolean =>
  fields.some((field) => field !== 'mode') && fields.every(isOfLock)

/** Keys that end by themselves. Counters do not with `keepCounters`, nor what latches and semaphores count. */
const ENDING =
  /^holdfast_(queue|waiting|readers|writers|alive|phase|forced|request|permit_queue|permit_waiters|permit_holders|kind|client):|:rwlock_timeout:\d+$/

export const endsByItself = (key: string): boolean => ENDING.test(key)

/** The client of an owner, or of a waiter. */
export const clientOf = (owner: string): string => owner.replace(/:.*$/s, '')

/** The key of the lock that a key belongs to; undefined where it belongs to none that is known by its name. */
export function lockOf(key: string): string | undefined {
  const name = DERIVED.exec(key)?.[2]
  if (name === undefined) return undefined
  // A name that has a tag of its own has no braces around it.
  const inner = /^\{([^{}]*)\}$/s.exec(name)?.[1] ?? /^\{([^{]*)\}$/s.exec(name)?.[1]
  return inner ?? name
}

const tagged = (key: string): string => (key.includes('{') ? key : `{${key}}`)

/** What belongs to a lock, by what comes before its name. */
export const derived = (prefix: string, key: string): string => `${prefix}:${tagged(key)}`

/** What the names of the leases of those who read, and of permits, begin with. */
export const leasesOf = tagged

export const processKey = (client: string): string => `holdfast_client:{${client}}`

/** Whether it is the counter of the tokens of a lock. */
export const isCounter = (key: string): boolean => key.startsWith('redisson_lock_token:')

/** A holder of permits goes by the id of its permit if the owner is unknown: an older version acquired it. */
export const isPermitId = (owner: string): boolean => /^[0-9a-f]{32}$/.test(owner)

/** The client that reports itself in a key; undefined for another key. */
export const clientIn = (key: string): string | undefined =>
  /^holdfast_client:\{([\w-]{21})\}$/.exec(key)?.[1]
