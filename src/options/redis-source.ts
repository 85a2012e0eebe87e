import type { Cluster, Redis, RedisOptions } from 'ioredis'
import { InvalidArgumentError } from '../errors.ts'
import { show } from '../kit/show.ts'
import { isNodeRedis, readNodeRedis } from './node-redis-source.ts'
import { readRedisUrl, showServer } from './redis-url.ts'
import { type ClusterList, readCluster, readSentinels, type SentinelList } from './server-lists.ts'

/** One server or one cluster, in any form that Holdfast passes on to ioredis. */
export type Source = string | RedisOptions | Redis | Cluster | ClusterList

/**
 * The options of ioredis 6, which include all options of ioredis 5. Holdfast refuses other names.
 * With a misspelt `host`, ioredis would connect to this machine without an error.
 */
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

/**
 * The end of the error for a list, because a list does not say what kind of servers it contains.
 */
const FOR_SEVERAL =
  ' For the nodes of a cluster, use `redis: { cluster: [...] }`. For Sentinels, use `redis: { sentinels: [...], name }`. ' +
  'For independent masters, of which a majority holds each lock, use `masters: [...]`.'

/** The options that only a cluster has. */
const CLUSTER_OPTIONS = ['cluster', 'dnsLookup']
/** The options of one server that a cluster does not have. */
const NOT_OF_CLUSTER = ['host', 'port', 'path', 'db', 'name', 'sentinels']

/**
 * Checks one value of `redis` or `masters`, and returns it in a form for ioredis. Refuses a value
 * if ioredis would connect to a server that the user does not mean.
 *
 * @param what the name of the option in errors
 * @throws `InvalidArgumentError` for a refused value
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

/**
 * Checks that these options are text or numbers. Accepts `null`, because for ioredis `null` means
 * that the option is missing.
 */
function assertPlain(options: RedisOptions, what: string): void {
  for (const name of ['host', 'port', 'path', 'db', 'keyPrefix', 'name'] as const) {
    const value: unknown = options[name]
    if (value === undefined || value === null || /^(string|number)$/.test(typeof value)) continue
    throw new InvalidArgumentError(
      `${what}: \`${name}\` must be a string or a number; got ${show(value)}.`,
    )
  }
}

/**
 * True for a client of ioredis. Its classes `Redis` and `Cluster` have `isCluster`; clients of
 * node-redis and mocks do not.
 */
function isIoredis(source: object): source is Redis | Cluster {
  return 'isCluster' in source && typeof source.isCluster === 'boolean' && 'duplicate' in source
}

/** True for a list of the nodes of a cluster. A client of ioredis has no member `cluster`. */
export function isClusterList(source: Exclude<Source, string>): source is ClusterList {
  return 'cluster' in source && Array.isArray(source.cluster)
}

function isAddress(text: string): boolean {
  if (text === '' || /\s/.test(text)) return false
  const full = text.includes('://') ? text : `redis://${text}`
  return text.startsWith('/') || readRedisUrl(full) !== undefined
}
