import type { ClusterOptions, RedisOptions } from 'ioredis'
import { InvalidArgumentError } from '../errors.ts'
import { readRedisUrl, showServer, withoutUndefined } from './redis-url.ts'

/** One server of a list: a URL, text such as `host:port`, or an object with `host` and `port`. */
export type ListedServer = string | { readonly host: string; readonly port?: number }

/** A cluster, given by some of its nodes. All other options apply to each node. */
export interface ClusterList
  extends Omit<RedisOptions, 'host' | 'port' | 'path' | 'db' | 'name' | 'sentinels' | 'natMap'>,
    Pick<ClusterOptions, 'dnsLookup' | 'natMap'> {
  cluster: readonly ListedServer[]
}

/**
 * A master that ioredis finds through Sentinels. `name` is the name of the master in the configuration of the
 * Sentinels. All other options apply as for one server.
 */
export interface SentinelList extends Omit<RedisOptions, 'host' | 'port' | 'path' | 'sentinels'> {
  sentinels: readonly ListedServer[]
  name: string
}

/** A cluster, or a master with Sentinels, that is given as a list of servers. */
export type ServerList = ClusterList | SentinelList

/** The servers of a list, with the login and the TLS setting that all of their URLs share. */
interface Listed {
  readonly servers: { host: string; port: number }[]
  readonly username: string | undefined
  readonly password: string | undefined
  readonly isTls: boolean
}

/**
 * Returns the options for the cluster. The nodes are objects with `host` and `port`, and the login and TLS setting of
 * their URLs apply to all nodes.
 */
export function readCluster(
  { cluster, ...shared }: ClusterList,
  what: string,
): ClusterList & { cluster: { host: string; port: number }[] } {
  const { servers, isTls, ...login } = readList(cluster, `${what}.cluster`, 6379)
  const byUrl = { ...withoutUndefined(login), ...(isTls && { tls: {} }) }
  return { ...byUrl, ...shared, cluster: servers }
}

/**
 * Returns the options for ioredis. The login and the TLS setting in the URLs apply to the Sentinels. If the master has
 * `tls`, ioredis also needs `enableTLSForSentinelMode`. Without that option, ioredis would connect to the master
 * without TLS.
 */
export function readSentinels(options: SentinelList, what: string): RedisOptions {
  const { servers, isTls, ...login } = readList(options.sentinels, `${what}.sentinels`, 26379)
  const byUrl = withoutUndefined({
    sentinelUsername: login.username,
    sentinelPassword: login.password,
  })
  const tls = {
    ...(isTls && { sentinelTLS: {} }),
    ...(options.tls && { enableTLSForSentinelMode: true }),
  }
  return { ...byUrl, ...tls, ...options, sentinels: servers }
}

function readList(list: unknown, what: string, port: number): Listed {
  if (!Array.isArray(list) || list.length === 0) {
    throw new InvalidArgumentError(`${what} must be a list of servers; got ${showServer(list)}.`)
  }
  const all = (list as unknown[]).map((one) => readServer(one, what, port))
  const [first] = all as [(typeof all)[0]]
  const { username, password, isTls } = first
  for (const one of all) {
    if (one.username === username && one.password === password && one.isTls === isTls) continue
    throw new InvalidArgumentError(
      `${what}: all servers must have the same login and the same TLS setting; ${one.host}:${one.port} differs from ` +
        `${first.host}:${first.port}. Give \`username\`, \`password\` and \`tls\` next to the list.`,
    )
  }
  return { servers: all.map(({ host, port }) => ({ host, port })), username, password, isTls }
}

function readServer(one: unknown, what: string, defaultPort: number) {
  if (typeof one === 'object' && one !== null) {
    const { host, port = defaultPort, ...others } = one as { host?: unknown; port?: unknown }
    const [other] = Object.keys(others)
    const isPort = Number.isInteger(port) && Number(port) > 0 && Number(port) < 65_536
    if (typeof host === 'string' && host !== '' && isPort && other === undefined) {
      return { host, port: Number(port), username: undefined, password: undefined, isTls: false }
    }
    if (other !== undefined) {
      throw new InvalidArgumentError(
        `${what}: a server is { host, port }; got \`${other}\` too. Give options for all servers next to the list.`,
      )
    }
  }
  const url = typeof one === 'string' ? urlOf(one) : undefined
  if (url === undefined) {
    throw new InvalidArgumentError(
      `${what}: each server must be redis://host:port, rediss://host:port, host:port or { host, port }; got ${showServer(one)}.`,
    )
  }
  const { host, port = defaultPort, username, password, isTls } = url
  return { host, port, username, password, isTls }
}

/**
 * Reads the URL of one server in a list. Returns undefined for a URL with a query or a database other than 0, because a
 * list would ignore them.
 */
function urlOf(text: string): ReturnType<typeof readRedisUrl> {
  if (/\s/.test(text)) return undefined
  const url = readRedisUrl(text.includes('://') ? text : `redis://${text}`)
  const isBare = url !== undefined && /^0?$/.test(url.database) && !url.hasMore
  return isBare && url.host !== '' ? url : undefined
}
