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
  /** If answers are due and none comes for this time, the client suspects the connection, in milliseconds. */
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
 * The options for a master that Sentinels name. ioredis leaves an old master at once, because it
 * could still grant locks for some seconds. `Connection` asks the Sentinels again after a failure,
 * because the timer of ioredis would keep the process alive.
 */
const BY_SENTINEL: RedisOptions = {
  role: 'master',
  failoverDetector: true,
  sentinelRetryStrategy: () => null,
  sentinelReconnectStrategy: () => 1_000 * (0.5 + Math.random()),
}

/**
 * Makes an ioredis client from the source that the user gave. Never uses the user's own client.
 *
 * ioredis sends a command again only if a node of a cluster refused the command. It queues nothing
 * while the connection is down, and repeats nothing after a reconnect. If the handshake has no
 * answer within twice `silenceMs`, ioredis closes the socket.
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
    // Holdfast itself decides when to leave a connection. A function of the user might reconnect
    // forever.
    reconnectOnError: null,
    socketTimeout: 2 * silenceMs,
    disconnectTimeout: 100,
    stringNumbers: false,
    readOnly: false,
    monitor: false,
    // ioredis 5 would send CLIENT SETINFO and CLIENT SETNAME while it connects. If the connection
    // broke meanwhile, ioredis 5 would stay "ready" forever. So the handshake sets the name.
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
  // Only Sentinel needs the ready check, for the role of the server. Without the check, a server
  // that loads its data answers with an error.
  return new makeRedis({
    ...withoutTimeout(options),
    ...own,
    ...(hasSentinels(options) && BY_SENTINEL),
    enableReadyCheck: hasSentinels(options),
  })
}

/** Returns the ioredis options in the source. ioredis itself reads the options in a URL. */
export function optionsOf(source: RedisSource): RedisOptions & { redisOptions?: RedisOptions } {
  if (typeof source === 'string') return new makeRedis(source, { lazyConnect: true }).options
  return isClient(source) ? (source.options as RedisOptions) : source
}

/** Removes `commandTimeout`, because Holdfast has its own deadlines. */
function withoutTimeout(options: RedisOptions): RedisOptions {
  const { commandTimeout: _, ...rest } = options
  return rest
}

function hasSentinels(options: RedisOptions): boolean {
  return Array.isArray(options.sentinels) && options.sentinels.length > 0
}
