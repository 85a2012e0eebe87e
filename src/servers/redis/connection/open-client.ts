import { type Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis'

// ioredis 5 and 6 declare their constructors differently; this is what they have in common.
const makeRedis = Redis as unknown as {
  new (url: string, options: RedisOptions): Redis
  new (options: RedisOptions): Redis
}

/** An ioredis client of either kind. */
export type Client = Redis | Cluster

/** What users give us: a URL, ioredis options, or a client of their own. */
export type RedisSource = string | RedisOptions | Redis | Cluster

export function isClient(source: RedisSource): source is Client {
  return typeof source === 'object' && 'duplicate' in source
}

export function isCluster(client: Client): client is Cluster {
  return client.isCluster
}

/** How a connection of our own is opened. */
export interface ConnectionSettings {
  readonly source: RedisSource
  /** A connection that owes answers for this long is dead, in milliseconds. */
  readonly silenceMs: number
  /** Whether a cluster that has sharded channels is to use them. */
  readonly sharded: boolean
}

/** Whether this is a cluster client that can listen to sharded channels: ioredis 5.9 and later. */
export function hasShards(client: Client): boolean {
  return isCluster(client) && 'shardedSubscribers' in client
}

/** The `keyPrefix` that the user's own client would put before a key. */
export function keyPrefixOf(source: RedisSource): string {
  const options = optionsOf(source)
  return options.keyPrefix ?? options.redisOptions?.keyPrefix ?? ''
}

/** Where the server is, for people. */
export function labelOf(source: RedisSource): string {
  if (isClient(source) && isCluster(source)) return 'a cluster'
  const { path, host = 'localhost', port = 6379, sentinels, name } = optionsOf(source)
  if (sentinels) return `${name} by Sentinel`
  return path ?? `${host}:${port}`
}

/** The number of the database that the keys are in. */
export function databaseOf(source: RedisSource): number {
  return Number(optionsOf(source).db ?? 0)
}

/** The name that the user gave connections, or undefined. */
export function connectionNameOf(source: RedisSource): string | undefined {
  return optionsOf(source).connectionName ?? undefined
}

/**
 * How a master is found by Sentinels. They tell when another one takes over: the old one would go on
 * granting locks for seconds. Where none of them can be asked `Connection` tries again, for the
 * timer of ioredis would keep the process alive.
 */
const BY_SENTINEL: RedisOptions = {
  role: 'master',
  failoverDetector: true,
  sentinelRetryStrategy: () => null,
  sentinelReconnectStrategy: () => 1_000 * (0.5 + Math.random()),
}

/**
 * Opens a connection of our own from what the user gave. The user's client is never touched.
 *
 * The settings make ioredis send a command once or not at all: nothing is queued while the
 * connection is down, nothing is sent again after a reconnect. A socket that is silent for twice
 * `silenceMs` while answers are due, be it those to the greeting, is given up.
 *
 * @param retryMs how long to pause before connecting again, in milliseconds; null is for good
 */
export function openClient(
  { source, silenceMs, sharded }: ConnectionSettings,
  retryMs: () => number | null,
): Client {
  const own: RedisOptions = {
    lazyConnect: true,
    keyPrefix: '',
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    enableOfflineQueue: false,
    enableAutoPipelining: false,
    maxRetriesPerRequest: 0,
    retryStrategy: retryMs,
    // We leave a connection for reasons of our own, and a user's may be to leave it for ever.
    reconnectOnError: null,
    socketTimeout: 2 * silenceMs,
    disconnectTimeout: 100,
    stringNumbers: false,
    readOnly: false,
    monitor: false,
    // ioredis 5 is "ready" for good when the connection dies under a command that it sends by itself
    // while it connects; so it sends none, and the name is given by the greeting.
    disableClientInfo: true,
    connectionName: undefined as unknown as string,
  }
  if (isClient(source) && isCluster(source)) {
    const { redisOptions } = source.options
    const options: ClusterOptions = {
      lazyConnect: true,
      keyPrefix: '',
      enableOfflineQueue: false,
      enableAutoPipelining: false,
      clusterRetryStrategy: retryMs,
      retryDelayOnFailover: 0,
      shardedSubscribers: sharded,
      redisOptions: { ...(redisOptions && withoutTimeout(redisOptions)), ...own },
    }
    const duplicate = source.duplicate as (nodes: [], options: ClusterOptions) => Cluster
    return duplicate.call(source, [], options)
  }
  const options = optionsOf(source)
  // A server that is loading its data answers in its own words, instead of not being ready; only
  // Sentinel needs the check, for the role of the server.
  return new makeRedis({
    ...withoutTimeout(options),
    ...own,
    ...(hasSentinels(options) && BY_SENTINEL),
    enableReadyCheck: hasSentinels(options),
  })
}

/** The options behind what the user gave. A URL is read by ioredis, and never put before ours. */
function optionsOf(source: RedisSource): RedisOptions & { redisOptions?: RedisOptions } {
  if (typeof source === 'string') return new makeRedis(source, { lazyConnect: true }).options
  return isClient(source) ? (source.options as RedisOptions) : source
}

/** `commandTimeout` rejects a command that may still run; our own deadlines know about that. */
function withoutTimeout(options: RedisOptions): RedisOptions {
  const { commandTimeout: _, ...rest } = options
  return rest
}

function hasSentinels(options: RedisOptions): boolean {
  return Array.isArray(options.sentinels) && options.sentinels.length > 0
}
