import type { RedisOptions } from 'ioredis'
import { InvalidArgumentError } from '../errors.ts'
import { readRedisUrl, withoutUndefined } from './redis-url.ts'

/** A client of node-redis, version 4 or 5, as `createClient` returns it. */
export interface NodeRedisClient {
  readonly options: object | undefined
  readonly isOpen: boolean
  duplicate(...args: never[]): unknown
  sendCommand(...args: never[]): unknown
}

/** The options of a node-redis client that Holdfast reads. */
interface Options {
  readonly url?: string
  readonly username?: string
  readonly password?: string
  readonly database?: number
  readonly name?: string
  readonly socket?: Readonly<Record<string, unknown>>
  readonly credentialsProvider?: { readonly type?: string }
}

/**
 * The options of node-redis that Holdfast ignores. They concern only the commands of the user's
 * client, and failures of its connection.
 */
const OF_ITS_OWN = [
  'RESP',
  'clientInfoTag',
  'clientSideCache',
  'commandOptions',
  'commandsQueueMaxLength',
  'disableClientInfo',
  'disableOfflineQueue',
  'emitInvalidate',
  'functions',
  'isolationPoolOptions',
  'legacyMode',
  'maintEndpointType',
  'maintNotifications',
  'maintRelaxedCommandTimeout',
  'maintRelaxedSocketTimeout',
  'modules',
  'pingInterval',
  'readonly',
  'scripts',
  'unstableResp3',
]
const TAKEN = ['url', 'username', 'password', 'database', 'name', 'socket']
const OF_ITS_SOCKET = [
  'connectTimeout',
  'keepAlive',
  'keepAliveInitialDelay',
  'noDelay',
  'reconnectStrategy',
  'socketTimeout',
]
const TAKEN_OF_SOCKET = ['host', 'port', 'path', 'family', 'tls']

export function isNodeRedis(source: object): source is NodeRedisClient {
  return 'isOpen' in source && typeof source.isOpen === 'boolean' && 'sendCommand' in source
}

/**
 * Returns the server and the login of a node-redis client, as options for ioredis.
 *
 * @throws `InvalidArgumentError` for options that Holdfast cannot pass on to ioredis
 */
export function readNodeRedis(client: NodeRedisClient, what: string): RedisOptions {
  const refuse = (words: string): never => {
    throw new InvalidArgumentError(`${what}, a client of node-redis: ${words}`)
  }
  const { options } = client
  if (typeof options !== 'object' || options === null) {
    return refuse(
      'a client of a cluster, of Sentinels or of a pool does not show its servers. Give them: `{ cluster: […] }`, or ' +
        '`{ sentinels: […], name }`.',
    )
  }
  const byUrl = 'url' in options && options.url !== undefined ? readUrl(String(options.url)) : {}
  if (byUrl === undefined) return refuse('its `url` is not a redis:// or rediss:// URL.')
  const { socket = {}, name, ...own } = options as Options
  // If the URL and the options differ, the URL counts, as in node-redis.
  const { username, password, database = 0 }: Options = { ...own, ...byUrl }
  // node-redis adds this provider itself if the client has a login. The provider contains only this
  // login, so Holdfast ignores it.
  const isOwn =
    password !== undefined && own.credentialsProvider?.type === 'async-credentials-provider'
  const known = [...TAKEN, ...OF_ITS_OWN, ...(isOwn ? ['credentialsProvider'] : [])]
  if (username !== undefined && password === undefined) {
    return refuse('it has a `username` but no `password`.')
  }
  const unknown = given(options).find((one) => !known.includes(one))
  if (unknown !== undefined) refuse(unsupported(unknown))
  const where: Record<string, unknown> = { ...socket, ...byUrl }
  const { host = 'localhost', port = 6379, path, family, tls } = where
  const rest = given(socket).filter((one) => ![...TAKEN_OF_SOCKET, ...OF_ITS_SOCKET].includes(one))
  const [other] = rest
  if (tls !== true && other !== undefined) refuse(unsupported(`socket.${other}`))
  return withoutUndefined({
    ...(path === undefined ? { host, port } : { path }),
    family,
    username,
    password,
    db: database,
    connectionName: name,
    tls: tls === true ? Object.fromEntries(rest.map((one) => [one, socket[one]])) : undefined,
  }) as RedisOptions
}

const unsupported = (name: string) =>
  `its \`${name}\` cannot be used for the connections of Holdfast, which ioredis opens. Give a URL or options of ` +
  'ioredis.'

const given = (options: object) =>
  Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [name]))

/** Returns the server and the login in a URL; undefined if the text is not a valid URL of Redis. */
function readUrl(text: string): (Options & { tls?: true }) | undefined {
  const url = readRedisUrl(text)
  if (url === undefined || !/^\d*$/.test(url.database)) return undefined
  const { host, port, username, password, isTls, database } = url
  return withoutUndefined({
    host,
    port,
    username,
    password,
    tls: isTls ? (true as const) : undefined,
    database: database === '' ? undefined : Number(database),
  })
}
