import type { Cluster, Redis, RedisOptions } from 'ioredis'
import type { OwnerHandle as Owner } from '../owner/owner.ts'
import type { DurabilityOptions } from './durability.ts'
import type { NodeRedisClient } from './node-redis-source.ts'
import type { ServerList } from './server-lists.ts'
import type { WatchdogThreadOptions } from './watchdog-thread.ts'

export interface HoldfastOptions {
  /**
   * Where Redis is: a URL, ioredis options, a list of the nodes of a cluster or of Sentinels, or a client of
   * your own: an ioredis `Redis` or `Cluster`, or one that `createClient` of node-redis made. From any of them
   * Holdfast opens connections of its own, by ioredis; yours is never reconfigured or closed.
   */
  redis?: string | RedisOptions | Redis | Cluster | ServerList | NodeRedisClient
  /**
   * Independent masters instead of one server: every lock is then held by a majority of them, and
   * outlives any minority. Each is given as `redis` is, but not as a cluster; take 3 or 5 that fail
   * independently, the same for all clients.
   */
  masters?: readonly (string | RedisOptions | Redis | NodeRedisClient)[]
  /**
   * The longest lease that any client takes, in milliseconds, with `masters` and of a RedLock: so
   * long a master that was started anew, emptied, or was a replica does not vote, since it may have
   * forgotten. Longer leases are refused there. Best the same for all clients.
   *
   * @default twice `leaseMs`
   */
  longestLeaseMs?: number
  /**
   * Whether `masters`, or those of a RedLock, that have never been used vote at once, for the first
   * start of a deployment.
   * It counts only while all of them can be reached and none has ever voted.
   *
   * @default false
   */
  newDeployment?: boolean
  /**
   * The lease of acquisitions without one of their own, in milliseconds: the watchdog renews it
   * every third until the release. Also how long a lock outlives a crashed process.
   *
   * @default 30_000
   */
  leaseMs?: number
  /**
   * The longest wait of `lock`, `using` and `acquire` without one of their own, in milliseconds: then they reject
   * with `WaitTimeoutError`. Candidates of an election wait without an end all the same.
   *
   * @default Infinity
   */
  waitMs?: number
  /**
   * The longest time that a lock or permits are held by a renewed lease, of calls that give none of their own, in
   * milliseconds, at least 10. It is for leases that nobody releases. Terms of an election have none.
   *
   * @default Infinity
   */
  maxHoldMs?: number
  /**
   * Put before every lock name; the result is the raw name in Redis.
   *
   * @default the `keyPrefix` of the ioredis options or client
   */
  keyPrefix?: string
  /**
   * What `inspect()` shows for this process where it waits for a fair lock, and the label of its candidates in
   * elections that have none of their own.
   *
   * @default the host's name and the process id, `host:4711`
   */
  label?: string
  /**
   * Whether this client tells others at the same place who it is: its label, its host and its process id, in a key
   * of its own, with what it sends anyway. No lock depends on it.
   *
   * @default true
   */
  presence?: boolean
  /**
   * Whether fencing token counters stay in Redis for good, as Redisson's do. Needed where its
   * `RFencedLock` shares a lock, which counts from 1 again when the counter is gone. Otherwise a
   * counter ends after `counterTtlMs`, and the next token is above it all the same.
   *
   * @default false
   */
  keepCounters?: boolean
  /**
   * How long the counter of a lock's tokens outlives its last use, in milliseconds; while the lock
   * is held it stays at any rate. Tokens rise although it is gone, unless the clock of the server
   * was set back by more than this. Not together with `keepCounters`.
   *
   * @default 3_600_000
   */
  counterTtlMs?: number
  /**
   * Whether, in a cluster of Redis 7 or later, releases are told on sharded channels, as Redisson
   * tells them there. All clients that share locks must do the same. It needs ioredis 5.9 or later.
   *
   * @default true
   */
  shardedPubSub?: boolean
  /**
   * The longest that one command may take before its outcome counts as unknown, in milliseconds.
   * With `masters` one of them has no longer than a tenth of `leaseMs`, but 100 ms at least.
   *
   * @default 2_000
   */
  commandTimeoutMs?: number
  /**
   * How long a call puts up with a Redis that cannot be reached, is silent, or refuses for a reason
   * that passes (loading, full, failing over), in milliseconds. Then it rejects. Without this option, a call that waits
   * puts up with an outage for its `waitMs`, ten minutes at most. If it has none, that is 30 s.
   *
   * @default 5_000
   */
  outageMs?: number
  /**
   * Warns of each lease that is held for longer than this, in milliseconds (`HOLDFAST_HELD_LONG`), and of those
   * that nobody can release any more (`HOLDFAST_LEASE_LEAKED`). It ends none, and each call then costs a stack trace.
   *
   * @default off
   */
  heldWarningMs?: number
  /**
   * Lets a worker thread with a connection of its own renew the leases while the event loop of the
   * main thread is blocked. Turn it on where synchronous work can take longer than half of the
   * lease. Where the thread cannot be started acquisitions reject with `InvalidArgumentError`.
   *
   * @default off
   */
  watchdogThread?: boolean | WatchdogThreadOptions
  /**
   * On which replicas an acquisition has to be before it counts: locks of every kind and permits with leases.
   * Fewer in time reject it with `NotDurableError`, and it is undone. Costs a connection, and a round trip to
   * the slowest of the replicas wanted. Not together with `masters`.
   *
   * @default off: an acquisition counts when the master has it
   */
  durability?: DurabilityOptions
}

/** What `getLock` takes beside the name. */
export interface GetLockOptions {
  /**
   * The owner that all acquisitions through this object act for, from `holdfast.owner()`. Without
   * it the frame of the running code decides, and where none does each acquisition is an owner
   * of its own.
   */
  owner?: Owner
}

export interface LockOptions {
  /**
   * A lease of its own in milliseconds, at least 10: a fixed one, unless `renew` says otherwise. Without it the
   * watchdog keeps the lock until the release, with the `leaseMs` of the client.
   */
  leaseMs?: number
  /**
   * Whether the watchdog renews the lease until the release, every third of it.
   *
   * @default false with a `leaseMs`, true without
   */
  renew?: boolean
  /**
   * The longest time that the lock is held, in milliseconds, at least 10, however often its lease is renewed: it is
   * renewed until then, and its signal aborts before. `Infinity` is without an end, also where the client has a
   * `maxHoldMs`. Only for leases that are renewed. A re-entry keeps that of the hold.
   *
   * @default the `maxHoldMs` of the client
   */
  maxHoldMs?: number
  /**
   * The longest wait in milliseconds: then the call rejects with `WaitTimeoutError`. `Infinity` is without an
   * end, also where the client has a `waitMs`. 0 is refused. In an outage it rejects with `RedisUnavailableError`, at
   * the same time unless the client has an `outageMs`; without a `waitMs` after 30 s.
   *
   * @default the `waitMs` of the client
   */
  waitMs?: number
  /** Ends the wait: the call rejects with `signal.reason`. Once acquired it has no effect. */
  signal?: AbortSignal
}

export interface TryLockOptions extends LockOptions {
  /** The longest wait in milliseconds. Without it the lock is tried once. 0 is refused. */
  waitMs?: number
}

export interface TryUsingOptions<U = null> extends TryLockOptions {
  /**
   * What the call comes to where the lock was not to be had: a value of your own, which `fn` cannot give. It is never
   * called.
   *
   * @default null
   */
  otherwise?: U
}

/** The options of `countDown` and `delete` of a latch. */
export interface LatchRoundOptions {
  /** The only round that the call is for, as `inspect()` of the latch gives it. */
  round: number
}

/** What `requestRelease` of a lock takes. */
export interface RequestReleaseOptions {
  /** Why, for the holder: text that its event, its error and its logs have. It is cut to 200 characters. */
  reason?: string
  /**
   * Asks this owner alone, `<clientId>:<owner>` as `inspect()` shows it. No request tells first who holds the lock.
   *
   * @default all who hold the lock
   */
  owner?: string
}

/** What `await` of a latch and `whenFree` of a lock take. */
export interface AwaitOptions {
  /** The round whose end is awaited, as `inspect()` of the latch gives it. Without it, that of the call. */
  round?: number
  /** The longest wait in milliseconds. Without it, and with `Infinity`, there is none. 0 is refused. */
  waitMs?: number
  /** Ends the wait: the call rejects with `signal.reason`. */
  signal?: AbortSignal
}
