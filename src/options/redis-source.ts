import type { Cluster, Redis, RedisOptions } from 'ioredis'
import { InvalidArgumentError } from '../errors.ts'
import { show } from '../kit/show.ts'
import { isNodeRedis, readNodeRedis } from './node-redis-source.ts'
import { readRedisUrl, showServer } from './redis-url.ts'
import { type ClusterList, readCluster, readSentinels, type SentinelList } from './server-lists.ts'

/** Where one server is, or a cluster. */
export type Source = string | RedisOptions | Redis | Cluster | ClusterList

/** What ioredis 6 knows, and with it ioredis 5: a misspelt `host` would be this machine, in silence. */
const OPTIONS: Record<keyof RedisOptions, true> = {
  Connector: true,
  autoPipeliningIgnoredCommands: true,
  autoResendUnfulfilledCommands: true,
  autoResubscribe: true,
  blockingTimeout: true,
  blockingTimeoutGrace: true,
  clientInfoTag: true,
  commandQueue: true,
  commandTimeout: true,
  connectTimeout: true,
  connectionName: true,
  db: true,
  disableClientInfo: true,
  disconnectTimeout: true,
  enableAutoPipelining: true,
  enableOfflineQueue: true,
  enableReadyCheck: true,
  enableTLSForSentinelMode: true,
  failoverDetector: true,
  family: true,
  himportFieldsets: true,
  host: true,
  keepAlive: true,
  keyPrefix: true,
  lazyConnect: true,
  maxLoadingRetryTime: true,
  maxRetriesPerRequest: true,
  monitor: true,
  name: true,
  natMap: true,
  noDelay: true,
  offlineQueue: true,
  password: true,
  path: true,
  port: true,
  preferredSlaves: true,
  protocol: true,
  readOnly: true,
  reconnectOnError: true,
  replyMapping: true,
  retryStrategy: true,
  role: true,
  scripts: true,
  sentinelCommandTimeout: true,
  sentinelMaxConnections: true,
  sentinelPassword: true,
  sentinelReconnectStrategy: true,
  sentinelRetryStrategy: true,
  sentinelTLS: true,
  sentinelUsername: true,
  sentinels: true,
  showFriendlyErrorStack: true,
  socketTimeout: true,
  stringNumbers: true,
  tls: true,
  updateSentinels: true,
  username: true,
}

/** For a list of servers, of which it does not say what they are. */
const FOR_SEVERAL =
  ' For the nodes of a cluster, use `redis: { cluster: [...] }`. For Sentinels, use `redis: { sentinels: [...], name }`. ' +
  'For independent masters, of which a majority holds each lock, use `masters: [...]`.'

/** Of a cluster, beside those. */
const CLUSTER_OPTIONS = ['cluster', 'dnsLookup']
/** Of one server. */
const NOT_OF_CLUSTER = ['host', 'port', 'path', 'db', 'name', 'sentinels']

/**
 * What was given, without what ioredis would make a connection to somewhere else of.
 *
 * @param what which option it was given as
 * @throws `InvalidArgumentError` for that
 */
export function readSource(source: unknown, what: string): Source {
  if (typeof source === 'string' && isAddress(source)) return source
  if (typeof source !== 'object' || source === null || Array.isArray(source)) {
    throw new InvalidArgumentError(
      `${what} must be a redis:// or rediss:// URL, ioredis options, { cluster: [...] }, or a client of ioredis or ` +
        `node-redis; got ${showServer(source)}.${Array.isArray(source) ? FOR_SEVERAL : ''}`,
    )
  }
  if (isIoredis(source)) return source
  if (isNodeRedis(source)) return readNodeRedis(source, what)
  const prototype: unknown = Object.getPrototypeOf(source)
  if ('duplicate' in source || (prototype !== Object.prototype && prototype !== null)) {
    throw new InvalidArgumentError(
      `${what} must be a redis:// or rediss:// URL, ioredis options, { cluster: [...] }, or a client of ioredis or ` +
        `node-redis; got ${show(source)}, which is none of them. For a client of another library, give the URL of its ` +
        'server, or the URLs of its cluster.',
    )
  }
  const isCluster = 'cluster' in source
  const other = Object.keys(source).find((name) =>
    isCluster
      ? !(name in OPTIONS || CLUSTER_OPTIONS.includes(name)) || NOT_OF_CLUSTER.includes(name)
      : !(name in OPTIONS),
  )
  if (other !== undefined && isCluster) {
    throw new InvalidArgumentError(
      `${what}: \`${other}\` cannot be combined with \`cluster\`. Only options for all nodes can.`,
    )
  }
  if (other !== undefined) {
    throw new InvalidArgumentError(
      `${what}: ioredis has no option \`${other}\`. ioredis would ignore it, and might connect to ` +
        'localhost:6379 instead.',
    )
  }
  assertPlain(source as RedisOptions, what)
  if (isCluster) return readCluster(source as ClusterList, what)
  const { sentinels } = source as RedisOptions
  return sentinels ? readSentinels(source as SentinelList, what) : source
}

/** Where the server is, is text or a number. ioredis has `null` for what is left out. */
function assertPlain(options: RedisOptions, what: string): void {
  for (const name of ['host', 'port', 'path', 'db', 'keyPrefix', 'name'] as const) {
    const value: unknown = options[name]
    if (value === undefined || value === null || /^(string|number)$/.test(typeof value)) continue
    throw new InvalidArgumentError(
      `${what}: \`${name}\` must be a string or a number; got ${show(value)}.`,
    )
  }
}

/** Both kinds say which of them they are; clients of node-redis and mocks do not. */
function isIoredis(source: object): source is Redis | Cluster {
  return 'isCluster' in source && typeof source.isCluster === 'boolean' && 'duplicate' in source
}

/** A list of nodes; ioredis gives its clients no such member. */
export function isClusterList(source: Exclude<Source, string>): source is ClusterList {
  return 'cluster' in source && Array.isArray(source.cluster)
}

function isAddress(text: string): boolean {
  if (text === '' || /\s/.test(text)) return false
  const full = text.includes('://') ? text : `redis://${text}`
  return text.startsWith('/') || readRedisUrl(full) !== undefined
}
