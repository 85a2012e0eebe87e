import { InvalidArgumentError } from '../../index.ts'

export interface Login {
  readonly user: string | undefined
  readonly pass: string | undefined
}

/** What a TLS connection needs; undefined is what Node.js takes by itself. */
export interface Tls {
  readonly ca: Buffer | undefined
  readonly cert: Buffer | undefined
  readonly key: Buffer | undefined
}

/** Where one server is, and how to log in there. */
export interface Endpoint {
  readonly host: string
  readonly port: number
  /** Of a socket in the file system, instead of a host and a port. */
  readonly path: string | undefined
  readonly database: number
  readonly login: Login
  readonly tls: Tls | undefined
}

/** How it is called in what is printed: never with its login. */
export function addressOf({ host, port, path }: Endpoint): string {
  return path ?? `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** The `redis-cli` that leads there, for lines to paste. The login is left to whoever may do what they say. */
export function redisCli({ host, port, path, database, tls }: Endpoint): string {
  const where = path === undefined ? `-h ${host} -p ${port}` : `-s ${path}`
  const select = database === 0 ? '' : ` -n ${database}`
  return `redis-cli ${where}${tls === undefined ? '' : ' --tls'}${select}`
}

/** What a URL says, or `host:port`, or the path of a socket; what it leaves open is as in `defaults`. */
export function readEndpoint(
  text: string,
  defaults: { login: Login; tls: Tls | undefined; secure: Tls },
  port = 6379,
): Endpoint {
  const { login, tls, secure } = defaults
  if (text.startsWith('/')) {
    return { host: '', port: 0, path: text, database: 0, login, tls: undefined }
  }
  const url = urlOf(text)
  const database = url?.pathname.replace(/^\/$/, '').slice(1) ?? ''
  // Behind `--` an option is taken for a server, and no server has such a name.
  if (url === undefined || /^-|^$/.test(url.hostname) || !/^\d*$/.test(database)) {
    throw new InvalidArgumentError(
      `A server must be given as redis://host:port, rediss://host:port or host:port; got ${JSON.stringify(withoutLogin(text))}.`,
    )
  }
  const own = { user: decoded(url.username), pass: decoded(url.password) }
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? port : Number(url.port),
    path: undefined,
    database: Number(database),
    login: own.pass === undefined ? { user: own.user ?? login.user, pass: login.pass } : own,
    tls: url.protocol === 'rediss:' ? secure : tls,
  }
}

function urlOf(text: string): URL | undefined {
  const full = text.includes('://') ? text : `redis://${text}`
  if (!/^rediss?:\/\//.test(full) || !URL.canParse(full)) return undefined
  return new URL(full)
}

function decoded(part: string): string | undefined {
  if (part === '') return undefined
  try {
    return decodeURIComponent(part)
  } catch {
    return part // A bare % is meant as itself.
  }
}

/** A message in which every quoted URL of Redis, and every quoted option, is without what may be a secret. */
export function withoutLogins(message: string): string {
  const quoted = /"(?:rediss?:|--[\w-]+=)(?:[^"\\]|\\.)*"/g
  return message.replace(quoted, (text) => `"${withoutLogin(text.slice(1, -1))}"`)
}

/** Of something that may be a URL what can be printed. */
export function withoutLogin(text: string): string {
  // An option where a server was expected, such as `--pass=secret` behind `--`.
  if (text.startsWith('-')) return text.replace(/=.*$/s, '=***')
  return text.replace(/^([a-z]*:\/\/)?.*@/s, '$1***@').replace(/\?.*$/s, '?***')
}
