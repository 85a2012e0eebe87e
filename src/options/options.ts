import type { Cluster, Redis, RedisOptions } from 'ioredis'
import type { DurabilityOptions } from './durability.ts'
import type { NodeRedisClient } from './node-redis-source.ts'
import type { ServerList } from './server-lists.ts'
import type { WatchdogThreadOptions } from './watchdog-thread.ts'

export interface HoldfastOptions {
  /**
   * The address of Redis: a URL, ioredis options, a list of the nodes of a cluster or of Sentinels, or your own client.
   * Your client is an ioredis `Redis` or `Cluster`, or a client that `createClient` of node-redis returned. Holdfast
   * opens its own connections with ioredis. It never reconfigures or closes your client.
   */
  redis?: string | RedisOptions | Redis | Cluster | ServerList | NodeRedisClient
  /**
   * Independent masters instead of one server. A majority of the masters holds each lock, so a lock survives the
   * failure of any minority. Give each master like `redis`, but not as a cluster. Use 3 or 5 masters that fail
   * independently. All clients must use the same masters.
   */
  masters?: readonly (string | RedisOptions | Redis | NodeRedisClient)[]
  /**
   * The longest lease of all clients, in milliseconds. The option applies to `masters` and to RedLocks. The client
   * refuses longer leases. All clients must use the same value. A master that was restarted, was emptied or was a
   * replica may have lost leases. So this master does not vote until `longestLeaseMs` has passed.
   *
   * @default twice `leaseMs`
   */
  longestLeaseMs?: number
  /**
   * With true, `masters` that have never been used vote at once. The same applies to the servers of a RedLock. Use the
   * option at the first start of a deployment. It has no effect if a master cannot be reached or has ever voted.
   *
   * @default false
   */
  newDeployment?: boolean
  /**
   * The lease of acquisitions without a `leaseMs`, in milliseconds. Until the release, the watchdog renews the lease
   * whenever a third of it has passed. If a process crashes, these locks stay held for at most this time.
   *
   * @default 30_000
   */
  leaseMs?: number
  /**
   * The longest wait of `lock`, `using` and `acquire` without a `waitMs`, in milliseconds. After this time, the call
   * rejects with `WaitTimeoutError`. Candidates of an election always wait without a limit.
   *
   * @default Infinity
   */
  waitMs?: number
  /**
   * The longest time that a renewed lease holds a lock or permits, in milliseconds, at least 10. The limit applies to
   * calls without a `maxHoldMs`. It protects against leases that are never released. Terms of an election have no
   * limit.
   *
   * @default Infinity
   */
  maxHoldMs?: number
  /**
   * How long the client keeps a plain lock after its release, in milliseconds. A call of `getLock` then acquires the
   * lock again without a request. The option `keepMs` of `getLock` replaces this value. 0 means not at all. The option
   * cannot be combined with `masters` or `durability`.
   *
   * @default 0
   */
  keepMs?: number
  /**
   * The prefix of every lock name. The prefix and the name together are the key in Redis.
   *
   * @default the `keyPrefix` of the ioredis options or client
   */
  keyPrefix?: string
  /**
   * The name of this client for people. `inspect()` shows the name if the client waits for a fair lock. Candidates
   * without a label of their own also use this label.
   *
   * @default the host's name and the process id, `host:4711`
   */
  label?: string
  /**
   * With true, this client reports its label, host and process id to other clients. The report has its own key, and the
   * client sends it together with other requests. No lock depends on the report.
   *
   * @default true
   */
  presence?: boolean
  /**
   * With true, the counters of fencing tokens stay in Redis forever, like the counters of Redisson. You need this
   * option if Redisson's `RFencedLock` uses the same lock, because Redisson counts from 1 again when the counter is
   * gone. Without this option, a counter is deleted after `counterTtlMs`, and the next token is still greater.
   *
   * @default false
   */
  keepCounters?: boolean
  /**
   * How long the token counter of a lock is kept after its last use, in milliseconds. The counter always stays while the
   * lock is held. Tokens rise even after the counter was deleted, if the clock of the server was not set back by more
   * than this time. This option cannot be combined with `keepCounters`.
   *
   * @default 3_600_000
   */
  counterTtlMs?: number
  /**
   * With true, releases in a cluster of Redis 7 or later are published on sharded channels, as in Redisson. All clients
   * that share locks must use the same value. Sharded channels need ioredis 5.9 or later.
   *
   * @default true
   */
  shardedPubSub?: boolean
  /**
   * How long a client waits for the answer to one command, in milliseconds. After this time, the outcome of the command
   * counts as unknown. With `masters`, each master has at most a tenth of `leaseMs` to answer, but at least 100 ms.
   *
   * @default 2_000
   */
  commandTimeoutMs?: number
  /**
   * How long a call retries in an outage, in milliseconds, before it rejects. In an outage, Redis cannot be reached,
   * does not answer, or refuses temporarily (loading, full, failing over). Without this option, a call that waits
   * retries for its `waitMs`, but at most for ten minutes. A call that waits without a limit retries for 30 s.
   *
   * @default 5_000
   */
  outageMs?: number
  /**
   * Warns of each lease that is held for longer than this time, in milliseconds (`HOLDFAST_HELD_LONG`). Also warns of a
   * lease that no code can release any more, because the program dropped the lease and its lock
   * (`HOLDFAST_LEASE_LEAKED`). The warning ends no lease. With this option, each call records a stack trace.
   *
   * @default off
   */
  heldWarningMs?: number
  /**
   * A worker thread with its own connection renews the leases while the event loop of the main thread is blocked. Use
   * this option if synchronous work can take longer than half of the lease. If the thread cannot start, acquisitions
   * reject with `InvalidArgumentError`.
   *
   * @default off
   */
  watchdogThread?: boolean | WatchdogThreadOptions
  /**
   * The replicas that must have an acquisition before it counts. The option applies to locks of every kind and to
   * permits with leases. If fewer replicas confirm in time, the call rejects with `NotDurableError`, and the
   * client undoes the acquisition. With this option, the client opens one more connection to each node. Each
   * acquisition takes one more round trip, to the slowest of the required replicas. The option cannot be combined with
   * `masters`.
   *
   * @default off: an acquisition counts when the master has it
   */
  durability?: DurabilityOptions
}

export interface LockOptions {
  /**
   * The lease of this acquisition, in milliseconds, at least 10. The lease is fixed, unless `renew` is true. Without
   * `leaseMs`, the watchdog renews the `leaseMs` of the client until the release.
   */
  leaseMs?: number
  /**
   * With true, the watchdog renews the lease until the release, whenever a third of the lease has
   * passed.
   *
   * @default false with a `leaseMs`, true without
   */
  renew?: boolean
  /**
   * The longest time that the lock is held, in milliseconds, at least 10. The watchdog renews the lease for this time.
   * Before the end, the signal of the lease aborts. `Infinity` means no limit, even when the client has a `maxHoldMs`.
   * The option needs a renewed lease. A re-entry keeps the limit of a renewed hold.
   *
   * @default the `maxHoldMs` of the client
   */
  maxHoldMs?: number
  /**
   * The longest wait, in milliseconds. After this time, the call rejects with `WaitTimeoutError`. `Infinity` means no
   * limit, even when the client has a `waitMs`. 0 is invalid.
   *
   * In an outage, the call rejects with `RedisUnavailableError` after `waitMs`, but at the latest after ten minutes.
   * Without a `waitMs`, it rejects after 30 s. If the client has an `outageMs`, the call rejects after `waitMs` or
   * `outageMs`, whichever is shorter.
   *
   * @default the `waitMs` of the client
   */
  waitMs?: number
  /**
   * Ends the wait: the call rejects with `signal.reason` when the signal aborts. After the acquisition, the signal has
   * no effect.
   */
  signal?: AbortSignal
}

export interface TryLockOptions extends LockOptions {
  /** The longest wait, in milliseconds. Without `waitMs`, the call tries once. 0 is invalid. */
  waitMs?: number
}

export interface TryUsingOptions<U = null> extends TryLockOptions {
  /**
   * The result of the call if the lock was not acquired. Use a value that `fn` cannot return. If the value is a
   * function, it is not called.
   *
   * @default null
   */
  otherwise?: U
}

/** The options of `countDown` and `delete` of a latch. */
export interface LatchRoundOptions {
  /** The id of the round, from `inspect()` of the latch. The call has no effect in another round. */
  round: number
}

/** The options of `requestRelease` of a lock. */
export interface RequestReleaseOptions {
  /**
   * The reason for the request. The holder reads the reason in its event, its error and its logs. Text after 200
   * characters is cut off.
   */
  reason?: string
  /**
   * The only owner that receives the request, as `inspect()` shows it: `<clientId>:<owner>`. With this option, the call
   * does not ask Redis for the holder first.
   *
   * @default all holders
   */
  owner?: string
}

/** The options of `whenFree`. */
export interface WhenFreeOptions {
  /** The longest wait, in milliseconds. Without `waitMs`, or with `Infinity`, the wait has no limit. 0 is invalid. */
  waitMs?: number
  /** Ends the wait: the call rejects with `signal.reason` when the signal aborts. */
  signal?: AbortSignal
}

/** The options of `await` of a latch. */
export interface AwaitOptions extends WhenFreeOptions {
  /**
   * The id of the round to await, from `inspect()` of the latch.
   *
   * @default the round at the time of the call
   */
  round?: number
}
