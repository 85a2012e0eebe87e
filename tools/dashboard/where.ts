import { InvalidArgumentError } from '../../src/index.ts'
import { type Login, readEndpoint, type Tls } from '../servers/endpoint.ts'
import { assertEachOnce, type Where } from '../servers/where.ts'

/** The PEM files of a TLS connection. For a missing file, Node.js uses its default. */
export interface TlsFiles {
  readonly ca?: string | Buffer | undefined
  readonly cert?: string | Buffer | undefined
  readonly key?: string | Buffer | undefined
}

/** A login. If a URL contains a login, the login in the URL is used instead. */
export interface LoginOptions {
  readonly username?: string | undefined
  readonly password?: string | undefined
}

/** A cluster, given by some of its nodes. */
export interface DashboardCluster extends LoginOptions {
  readonly cluster: readonly string[]
}

/** A master, given by its Sentinels. */
export interface DashboardSentinels extends LoginOptions {
  readonly sentinels: readonly string[]
  readonly name: string
  readonly sentinelUsername?: string | undefined
  readonly sentinelPassword?: string | undefined
}

/** The servers of the locks: either `redis` or `masters`. */
export interface PlaceOptions {
  /**
   * One server, as `redis://host:port`, `rediss://host:port` or `host:port`; a cluster; or
   * Sentinels and the name of a master.
   */
  readonly redis?: string | DashboardCluster | DashboardSentinels | undefined
  /** The independent masters of a quorum, each as one server. */
  readonly masters?: readonly string[] | undefined
  /** If given, the connections use TLS, as with `rediss://`. */
  readonly tls?: TlsFiles | undefined
}

/** @throws `InvalidArgumentError` for invalid servers; no message contains a password */
export function whereOf({ redis, masters, tls: files }: PlaceOptions): Where {
  if ((redis === undefined) === (masters === undefined)) {
    throw new InvalidArgumentError(
      'A dashboard needs either redis or masters, the servers of the locks.',
    )
  }
  const secure: Tls = { ca: pem(files?.ca), cert: pem(files?.cert), key: pem(files?.key) }
  const tls = files === undefined ? undefined : secure
  const none: Login = { user: undefined, pass: undefined }
  const endpoints = (urls: readonly string[], what: string, login = none, port?: number) => {
    if (!Array.isArray(urls) || urls.length === 0 || urls.some((url) => typeof url !== 'string')) {
      throw new InvalidArgumentError(`${what} must be a list of at least one URL.`)
    }
    return urls.map((url) => readEndpoint(url, { login, tls, secure }, port))
  }
  if (masters !== undefined) {
    const servers = endpoints(masters, 'masters')
    assertEachOnce(servers)
    return { kind: servers.length === 1 ? 'server' : 'masters', servers }
  }
  if (typeof redis === 'string') return { kind: 'server', servers: endpoints([redis], 'redis') }
  if (typeof redis === 'object' && redis !== null && 'cluster' in redis) {
    const servers = endpoints(redis.cluster, 'redis.cluster', loginOf(redis))
    assertEachOnce(servers)
    return { kind: 'cluster', servers }
  }
  if (typeof redis !== 'object' || redis === null || !('sentinels' in redis) || !redis.name) {
    throw new InvalidArgumentError(
      'redis must be a URL, { cluster: [...] } or { sentinels: [...], name }; a dashboard opens its own connections.',
    )
  }
  const { sentinelUsername: username, sentinelPassword: password } = redis
  return {
    kind: 'sentinel',
    sentinels: endpoints(
      redis.sentinels,
      'redis.sentinels',
      loginOf({ username, password }),
      26_379,
    ),
    masterName: redis.name,
    login: loginOf(redis),
    tls,
  }
}

function loginOf({ username, password }: LoginOptions): Login {
  return { user: username, pass: password }
}

function pem(text: string | Buffer | undefined): Buffer | undefined {
  return typeof text === 'string' ? Buffer.from(text) : text
}
