import { type Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis'

// ioredis 5 and 6 declare their constructors differently. This type has the common part.
const makeRedis = Redis as unknown as {
  new (url: string, options: RedisOptions): Redis
  new (options: RedisOptions): Redis
}

export type RedisClient = Redis | Cluster

/** The argument `redis` of users: a URL, ioredis options, or their own client. */
export type RedisSource = string | RedisOptions | Redis | Cluster

export function isClient(source: RedisSource): source is RedisClient {
  return typeof source === 'object' && 'duplicate' in source
}

export function isCluster(client: RedisClient): client is Cluster {
  return client.isCluster
}

export interface ConnectionSettings {
  readonly source: RedisSource
  /** After this time without a due answer, the client suspects the connection, in milliseconds. */
  readonly silenceMs: number
  /** True if sharded channels may be used in a cluster that has them. */
  readonly sharded: boolean
}

/** True for a cluster client that can listen to sharded channels: ioredis 5.9 and later. */
export function hasShards(client: RedisClient): boolean {
  return isCluster(client) && 'shardedSubscribers' in client
}

/** Returns the `keyPrefix` that the user's own client would put before a key. */
export function keyPrefixOf(source: RedisSource): string {
  const options = optionsOf(source)
  return options.keyPrefix ?? options.redisOptions?.keyPrefix ?? ''
}

/** Returns the address of the server, for messages. */
export function labelOf(source: RedisSource): string {
  if (isClient(source) && isCluster(source)) return 'a cluster'
  const { path, host = 'localhost', port = 6379, sentinels, name } = optionsOf(source)
  if (sentinels) return `${name} by Sentinel`
  return path ?? `${host}:${port}`
}

/** Returns the number of the database that has the keys. */
export function databaseOf(source: RedisSource): number {
  return Number(optionsOf(source).db ?? 0)
}

/** Returns the user's name for connections; undefined if the user gave no name. */
export function connectionNameOf(source: RedisSource): string | undefined {
  return optionsOf(source).connectionName ?? undefined
}

/**
 * How ioredis finds the master by Sentinels. Sentinels report a failover, because the old master
 * would grant locks for some seconds. If no Sentinel answers, `Connection` tries again, because the
 * timer of ioredis would keep the process alive.
 */
const BY_SENTINEL: RedisOptions = {
  role: 'master',
  failoverDetector: true,
  sentinelRetryStrategy: () => null,
  sentinelReconnectStrategy: () => 1_000 * (0.5 + Math.random()),
}

/**
 * Opens a connection of our own, from the source that the user gave. Does not use the user's
 * client.
 *
 * With these settings, ioredis sends a command at most once. It queues nothing while the connection
 * is down, and repeats nothing after a reconnect. If answers are due, even to the greeting, and a
 * socket is silent for twice `silenceMs`, the socket is closed.
 *
 * @param retryMs returns the pause before the next connect, in milliseconds; null means never
 */
export function openClient(
  { source, silenceMs, sharded }: ConnectionSettings,
  retryMs: () => number | null,
): RedisClient {
  const own: RedisOptions = {
    lazyConnect: true,
    keyPrefix: '',
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    enableOfflineQueue: false,
    enableAutoPipelining: false,
    maxRetriesPerRequest: 0,
    retryStrategy: retryMs,
    // Holdfast decides itself when to leave a connection, and a user's function may leave it
    // forever.
    reconnectOnError: null,
    socketTimeout: 2 * silenceMs,
    disconnectTimeout: 100,
    stringNumbers: false,
    readOnly: false,
    monitor: false,
    // If the connection dies under a command that ioredis 5 sends while it connects, ioredis 5
    // stays "ready" forever. So ioredis sends no such command, and the greeting sets the name.
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
  // A server that loads its data answers with an error, and needs no ready check. Only Sentinel
  // needs the check, for the role of the server.
  return new makeRedis({
    ...withoutTimeout(options),
    ...own,
    ...(hasSentinels(options) && BY_SENTINEL),
    enableReadyCheck: hasSentinels(options),
  })
}

/**
 * Returns the ioredis options in the source. ioredis reads a URL. The options of Holdfast override
 * options in the URL.
 */
function optionsOf(source: RedisSource): RedisOptions & { redisOptions?: RedisOptions } {
  if (typeof source === 'string') return new makeRedis(source, { lazyConnect: true }).options
  return isClient(source) ? (source.options as RedisOptions) : source
}

/**
 * Removes `commandTimeout`, which rejects a command that may still run. Holdfast's own deadlines
 * handle such commands.
 */
function withoutTimeout(options: RedisOptions): RedisOptions {
  const { commandTimeout: _, ...rest } = options
  return rest
}

function hasSentinels(options: RedisOptions): boolean {
  return Array.isArray(options.sentinels) && options.sentinels.length > 0
}
