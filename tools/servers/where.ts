import { readFileSync } from 'node:fs'
import { InvalidArgumentError } from '../../src/index.ts'
import { addressOf, type Endpoint, type Login, readEndpoint, type Tls } from './endpoint.ts'

/** The options that name the servers of the locks. Every command has these options. */
export const WHERE_OPTIONS = {
  url: { type: 'string', short: 'u', multiple: true },
  user: { type: 'string' },
  pass: { type: 'string' },
  tls: { type: 'boolean' },
  cacert: { type: 'string' },
  cert: { type: 'string' },
  key: { type: 'string' },
  cluster: { type: 'boolean' },
  sentinel: { type: 'string', multiple: true },
  'master-name': { type: 'string' },
  'sentinel-user': { type: 'string' },
  'sentinel-pass': { type: 'string' },
} as const

/**
 * True if the text begins like a Redis URL. Without `--`, such an argument names a server, and not
 * a lock.
 */
export const isUrl = (text: string): boolean => /^rediss?:\/\//.test(text)

export const WHERE_USAGE = `  url…                       redis://host:port, rediss://host:port or host:port; several are the
                             independent masters of a quorum. Without any: REDIS_URL, or 127.0.0.1:6379
  -u, --url <url>            a URL, as an option
  --cluster                  the urls are nodes of one cluster
  --sentinel <host:port,…>   ask these Sentinels for the master; with --master-name <name>
  --user <name>              with --pass <password>, or REDISCLI_AUTH, which process lists do not show
  --sentinel-user <name>     the login of the Sentinels, with --sentinel-pass <password>
  --tls                      connect with TLS, as rediss:// does; --cacert <file>,
                             --cert <file> and --key <file> as for redis-cli
`

interface WhereValues {
  url?: string[] | undefined
  user?: string | undefined
  pass?: string | undefined
  tls?: boolean | undefined
  cacert?: string | undefined
  cert?: string | undefined
  key?: string | undefined
  cluster?: boolean | undefined
  sentinel?: string[] | undefined
  'master-name'?: string | undefined
  'sentinel-user'?: string | undefined
  'sentinel-pass'?: string | undefined
}

/** The servers of the locks, as the user gave them. */
export type Where =
  | { readonly kind: 'server' | 'masters' | 'cluster'; readonly servers: readonly Endpoint[] }
  | {
      readonly kind: 'sentinel'
      readonly sentinels: readonly Endpoint[]
      readonly masterName: string
      /** The login for the server that the Sentinels name as the master. */
      readonly login: Login
      /** The TLS files for the server that the Sentinels name as the master. */
      readonly tls: Tls | undefined
    }

/**
 * Reads the servers from the options and the arguments of a command, and from the environment.
 *
 * @throws `InvalidArgumentError` for invalid options; no message contains a password
 */
export function readWhere(
  values: WhereValues,
  positionals: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Where {
  const secure = {
    ca: fileOf(values.cacert, '--cacert'),
    cert: fileOf(values.cert, '--cert'),
    key: fileOf(values.key, '--key'),
  }
  const hasFiles = Object.values(secure).some((file) => file !== undefined)
  const tls = values.tls || hasFiles ? secure : undefined
  const login = { user: values.user, pass: values.pass ?? env.REDISCLI_AUTH }
  const given = [...(values.url ?? []), ...positionals]
  if (values.sentinel !== undefined) return sentinelsOf(values, given, { login, tls, secure })
  if (values['master-name'] !== undefined) {
    throw new InvalidArgumentError('--master-name needs --sentinel <host:port,…>.')
  }
  const urls = given.length > 0 ? given : [env.REDIS_URL || '127.0.0.1:6379']
  const servers = urls.map((url) => readEndpoint(url, { login, tls, secure }))
  assertEachOnce(servers)
  if (values.cluster) return { kind: 'cluster', servers }
  return { kind: servers.length === 1 ? 'server' : 'masters', servers }
}

/**
 * @throws `InvalidArgumentError` if an address is given twice, because a master would then have two
 * votes
 */
export function assertEachOnce(servers: readonly Endpoint[]): void {
  const addresses = servers.map(addressOf)
  const twice = addresses.find((one, i) => addresses.indexOf(one) !== i)
  if (twice !== undefined) throw new InvalidArgumentError(`${twice} was given twice.`)
}

function sentinelsOf(
  values: WhereValues,
  given: readonly string[],
  defaults: { login: Login; tls: Tls | undefined; secure: Tls },
): Where {
  const masterName = values['master-name']
  if (masterName === undefined) {
    throw new InvalidArgumentError('--sentinel also needs --master-name <name>.')
  }
  if (given.length > 0 || values.cluster) {
    throw new InvalidArgumentError('Give either --sentinel, or urls or --cluster; got both.')
  }
  const login = { user: values['sentinel-user'], pass: values['sentinel-pass'] }
  const list = (values.sentinel ?? []).flatMap((one) => one.split(',')).filter((one) => one !== '')
  if (list.length === 0) {
    throw new InvalidArgumentError('--sentinel needs host:port of at least one Sentinel; got "".')
  }
  const sentinels = list.map((one) => readEndpoint(one.trim(), { ...defaults, login }, 26_379))
  return { kind: 'sentinel', sentinels, masterName, login: defaults.login, tls: defaults.tls }
}

function fileOf(path: string | undefined, option: string): Buffer | undefined {
  if (path === undefined) return undefined
  try {
    return readFileSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new InvalidArgumentError(
      `${option} cannot be read (${code}); got ${JSON.stringify(path)}.`,
    )
  }
}
