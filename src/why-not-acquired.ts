/** The identity of a client, as the client reports it to other clients of the same Redis. */
export interface ClientInfo {
  /** The id of the client. Every owner id of the client begins with this id. */
  readonly client: string
  /** The `label` of the client; by default the host name and the process id. */
  readonly label: string
  readonly host: string
  readonly pid: number
  /** The version of Holdfast that the client runs. */
  readonly version: string
  /** When the client was created, in milliseconds since 1970 by the clock of its host. */
  readonly startedAt: number
}

/** Why an attempt to acquire a lock failed, as far as the client knows the reason. */
export interface WhyNotAcquired {
  /** The name that was given to `getLock` or a similar method. */
  readonly name: string
  /**
   * `held`: another owner holds the lock, or is before the caller in the queue. `free`: the lock is free now. `unset`:
   * the semaphore has no permits, because no client set their number. `outage`: Redis did not answer. `failed`: another
   * reason, which `text` describes.
   */
  readonly outcome: 'held' | 'free' | 'unset' | 'outage' | 'failed'
  /** The holder in the last answer of the server, as `<clientId>:<owner>`; null if unknown. */
  readonly holder: string | null
  /** The client to which the holder belongs; null if unknown. */
  readonly process: ClientInfo | null
  /**
   * How long the holder had held the lock at the time `at`, in milliseconds; null if unknown. The time is unknown if a
   * majority of masters holds the lock, or if `why()` had to ask Redis for the holder. The time is also unknown if the
   * holder uses Redisson, or is a reader of an older Holdfast.
   */
  readonly ageMs: number | null
  /** The remaining time of the lease at the time `at`, in ms; null if unknown, or if the lease never expires. */
  readonly ttlMs: number | null
  /** The last known position of the caller in the queue of a fair lock; 1 is the head. Null for other locks. */
  readonly queuePosition: number | null
  /**
   * For a semaphore, the number of clients that wait. For a fair lock, the number of waiters if the call did not queue.
   * Null otherwise.
   */
  readonly queueLength: number | null
  /** When the lock was in this state, in milliseconds since 1970 by the clock of this host. */
  readonly at: number
  /** The reason as text for people. */
  readonly text: string
}
