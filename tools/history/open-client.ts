import { Cluster, type ClusterNode, type ClusterOptions, Redis, type RedisOptions } from 'ioredis'
import type { ServerList } from '../../src/index.ts'
import { handleSocketErrors } from '../servers/socket-errors.ts'

/**
 * The Redis of the history: a URL, options of ioredis, `{ cluster: [...] }`, or a client of
 * ioredis. The history copies the options of such a client, and does not use its connection.
 */
export type HistoryRedis = string | RedisOptions | Redis | Cluster | ServerList

export type HistoryClient = Redis | Cluster

// ioredis 5 and 6 declare their constructors differently. This type fits both.
const makeRedis = Redis as unknown as {
  new (url: string, options: RedisOptions): Redis
  new (options: RedisOptions): Redis
}
const makeCluster = Cluster as unknown as new (
  nodes: readonly ClusterNode[],
  options: ClusterOptions,
) => Cluster

/**
 * These options replace options of the user. ioredis must not queue or repeat requests, because the
 * callers decide if a request is repeated.
 */
const OWN: RedisOptions = {
  lazyConnect: true,
  keyPrefix: '',
  autoResendUnfulfilledCommands: false,
  enableOfflineQueue: false,
  enableAutoPipelining: false,
  enableReadyCheck: false,
  maxRetriesPerRequest: 0,
  reconnectOnError: null,
  readOnly: false,
  monitor: false,
  disconnectTimeout: 100,
  stringNumbers: false,
  disableClientInfo: true,
  // Replies must be lists, as in ioredis 5. ioredis 6 would use protocol 3.
  ...({ protocol: 2 } as object),
}

/**
 * Creates a new client of ioredis, which is not connected yet.
 *
 * @param retryMs the pause before a reconnection, in milliseconds; null for no reconnection
 * @throws `TypeError` if `redis` is invalid
 */
export function openClient(redis: HistoryRedis, retryMs: number | null): HistoryClient {
  const client = makeClient(redis, { ...OWN, retryStrategy: () => retryMs })
  handleSocketErrors(client)
  // Without a listener, ioredis prints each error. The calls reject with the same errors.
  client.on('error', () => undefined)
  return client
}

function makeClient(redis: HistoryRedis, own: RedisOptions): HistoryClient {
  if (typeof redis === 'string' && redis !== '') return new makeRedis(redis, own)
  if (typeof redis !== 'object' || redis === null) {
    throw new TypeError(
      'redis must be a redis:// or rediss:// URL, ioredis options, { cluster: [...] }, or a client of ioredis.',
    )
  }
  if ('isCluster' in redis && 'duplicate' in redis) {
    if (!redis.isCluster) return new makeRedis({ ...(redis as Redis).options, ...own })
    const { redisOptions } = (redis as Cluster).options
    const duplicate = redis.duplicate as (nodes: [], options: ClusterOptions) => Cluster
    return duplicate.call(redis, [], clusterOptions({ ...redisOptions, ...own }))
  }
  if (Object.getPrototypeOf(redis) !== Object.prototype && Object.getPrototypeOf(redis) !== null) {
    throw new TypeError(
      'redis is not a client of ioredis: give the URL of its server, or options of ioredis.',
    )
  }
  if ('cluster' in redis) {
    const { cluster, dnsLookup, natMap, ...options } = redis
    const byUrl = loginOf(cluster[0])
    return new makeCluster(cluster.map(addressOf), {
      ...clusterOptions({ ...byUrl, ...(options as RedisOptions), ...own }),
      ...(dnsLookup && { dnsLookup }),
      ...(natMap && { natMap }),
    })
  }
  const options = redis as RedisOptions
  return new makeRedis(options.sentinels ? sentinelOptions(options, own) : { ...options, ...own })
}

function sentinelOptions(options: RedisOptions, own: RedisOptions): RedisOptions {
  const { sentinels = [], tls, name } = options
  if (typeof name !== 'string' || name === '') {
    throw new TypeError(
      'redis: `sentinels` needs `name`, the name of the master that the Sentinels watch.',
    )
  }
  const byUrl = loginOf(sentinels[0])
  return {
    ...(byUrl.username && { sentinelUsername: byUrl.username }),
    ...(byUrl.password && { sentinelPassword: byUrl.password }),
    ...(byUrl.tls && { sentinelTLS: byUrl.tls }),
    // Without this option ioredis connects to the master without TLS.
    ...(tls && { enableTLSForSentinelMode: true }),
    ...options,
    ...own,
    sentinels: sentinels.map(addressOf),
    // Without these options, ioredis does not check that Sentinel named a master.
    role: 'master',
    enableReadyCheck: true,
    sentinelRetryStrategy: own.retryStrategy as (times: number) => number | null,
  }
}

function clusterOptions(redisOptions: RedisOptions): ClusterOptions {
  return {
    lazyConnect: true,
    keyPrefix: '',
    enableOfflineQueue: false,
    enableAutoPipelining: false,
    clusterRetryStrategy: redisOptions.retryStrategy as (times: number) => number | null,
    redisOptions,
  }
}

type ClusterAddress = string | { readonly host?: string; readonly port?: number } | undefined

function urlOf(node: string): URL {
  return new URL(node.includes('://') ? node : `redis://${node}`)
}

/** Returns the host and the port of a node. Accepts `host:port`, a URL or an object. */
function addressOf(node: ClusterAddress): { host?: string; port?: number } {
  if (typeof node !== 'string') return { ...node }
  const { hostname, port } = urlOf(node)
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), ...(port && { port: Number(port) }) }
}

function loginOf(node: ClusterAddress): RedisOptions {
  if (typeof node !== 'string') return {}
  const { username, password, protocol } = urlOf(node)
  return {
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' && { tls: {} }),
  }
}

/**
 * Returns the `keyPrefix` of the options or of the client; empty if there is none. A URL has none.
 */
export function keyPrefixOf(redis: HistoryRedis): string {
  if (typeof redis === 'string') return ''
  const { keyPrefix } = ('duplicate' in redis ? redis.options : redis) as RedisOptions
  return keyPrefix ?? ''
}
