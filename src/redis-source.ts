import type { RedisOptions } from 'ioredis'
import { InvalidArgumentError, show } from './errors.ts'
import type { HoldfastOptions } from './options.ts'

/** Where one server is, or a cluster. */
export type Source = NonNullable<HoldfastOptions['redis']>

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

/**
 * Refuses what ioredis would make a connection to somewhere else of.
 *
 * @param what which option it was given as
 */
export function assertSource(source: unknown, what: string): asserts source is Source {
  if (typeof source === 'string' && isAddress(source)) return
  if (typeof source !== 'object' || source === null || Array.isArray(source)) {
    throw new InvalidArgumentError(
      `${what} must be a redis:// URL, ioredis options, or an ioredis client; got ${show(source)}.`,
    )
  }
  if (isIoredis(source)) return
  const prototype: unknown = Object.getPrototypeOf(source)
  if ('duplicate' in source || (prototype !== Object.prototype && prototype !== null)) {
    throw new InvalidArgumentError(
      `${what} must be a redis:// URL, ioredis options, or an ioredis client; got ${show(source)}, which is ` +
        'none of them. Beside a client of another library give the URL of its server.',
    )
  }
  const other = Object.keys(source).find((name) => !(name in OPTIONS))
  if (other === undefined) return
  throw new InvalidArgumentError(
    `${what}: ioredis has no option \`${other}\`. It would be passed over, and the server be ` +
      'localhost:6379 where it was to say where that is.',
  )
}

/** Both kinds say which of them they are; clients of node-redis and mocks do not. */
function isIoredis(source: object): boolean {
  return 'isCluster' in source && typeof source.isCluster === 'boolean' && 'duplicate' in source
}

function isAddress(text: string): boolean {
  if (text === '' || /\s/.test(text)) return false
  if (text.includes('://')) return /^rediss?:/.test(text) && URL.canParse(text)
  return text.startsWith('/') || URL.canParse(`redis://${text}`)
}
