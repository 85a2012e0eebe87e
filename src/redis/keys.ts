/** The names in Redis that belong to one lock. All of them hash to one cluster slot. */
export interface LockKeys {
  /** The hash: owner to hold count. Its name is the raw name itself. */
  readonly lock: string
  /** The fencing token counter. */
  readonly counter: string
  /** The channel that a release publishes to. */
  readonly channel: string
}

/**
 * The names as Redisson derives them: `prefix:{raw}`, or `prefix:raw` when the raw name has a
 * `{tag}` of its own.
 */
export function lockKeys(rawName: string): LockKeys {
  const tagged = rawName.includes('{') ? rawName : `{${rawName}}`
  return {
    lock: rawName,
    counter: `redisson_lock_token:${tagged}`,
    channel: `redisson_lock__channel:${tagged}`,
  }
}
