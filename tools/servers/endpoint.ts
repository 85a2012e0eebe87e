import { InvalidArgumentError } from '../../src/index.ts'

export interface Login {
  readonly user: string | undefined
  readonly pass: string | undefined
}

/** The files of a TLS connection. If a file is undefined, Node.js uses its default. */
export interface Tls {
  readonly ca: Buffer | undefined
  readonly cert: Buffer | undefined
  readonly key: Buffer | undefined
}

export interface Endpoint {
  readonly host: string
  readonly port: number
  /** The path of a Unix socket. Undefined if the server has a host and a port. */
  readonly path: string | undefined
  readonly database: number
  readonly login: Login
  readonly tls: Tls | undefined
}

/** Returns the address of the server as text for users. The text never contains the login. */
export function addressOf({ host, port, path }: Endpoint): string {
  return path ?? `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/**
 * Returns the `redis-cli` command for this server, for messages to users. Contains no login, so the
 * user must add it.
 */
export function redisCli({ host, port, path, database, tls }: Endpoint): string {
  const where = path === undefined ? `-h ${host} -p ${port}` : `-s ${path}`
  const select = database === 0 ? '' : ` -n ${database}`
  return `redis-cli ${where}${tls === undefined ? '' : ' --tls'}${select}`
}

/**
 * Reads a server from a URL, from `host:port` or from the path of a socket. Missing parts come from
 * `defaults`.
 */
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
  // An option after `--` arrives here as a server. Refuses this text, because no host begins with
  // `-`.
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
    return part // The text has a % but is not percent-encoded.
  }
}

/**
 * In a message, removes the login and the query from every quoted Redis URL, and the value from
 * every quoted option.
 */
export function withoutLogins(message: string): string {
  const quoted = /"(?:rediss?:|--[\w-]+=)(?:[^"\\]|\\.)*"/g
  return message.replace(quoted, (text) => `"${withoutLogin(text.slice(1, -1))}"`)
}

/** Removes the login and the query from a text that may be a URL, before the text is printed. */
export function withoutLogin(text: string): string {
  // Hides the value of an option that was given as a server, such as `--pass=secret` after `--`.
  if (text.startsWith('-')) return text.replace(/=.*$/s, '=***')
  return text.replace(/^([a-z]*:\/\/)?.*@/s, '$1***@').replace(/\?.*$/s, '?***')
}

/** Removes the password and the query from the address of a server, to print a command. */
export function withoutPassword(text: string): string {
  if (text.startsWith('/') || !/[@?#]/.test(text)) return text
  const url = urlOf(text)
  if (url === undefined) return withoutLogin(text)
  url.password = ''
  url.search = ''
  url.hash = ''
  return url.href
}
