import { show } from '../kit/show.ts'

/** What a URL says of where a server is, and as whom to connect. */
interface RedisUrl {
  readonly host: string
  readonly port: number | undefined
  readonly username: string | undefined
  readonly password: string | undefined
  readonly isTls: boolean
  /** Its path without the first `/`: the number of a database, if it is of use. */
  readonly database: string
  /** Whether a query or a fragment follows. */
  readonly hasMore: boolean
}

/** The parts of a redis:// or rediss:// URL; undefined where it is none. */
export function readRedisUrl(text: string): RedisUrl | undefined {
  if (!/^rediss?:\/\//.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  try {
    return {
      host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: url.port === '' ? undefined : Number(url.port),
      username: decoded(url.username),
      password: decoded(url.password),
      isTls: url.protocol === 'rediss:',
      database: url.pathname.slice(1),
      hasMore: url.search !== '' || url.hash !== '',
    }
  } catch {
    // A `%` in the login that escapes nothing: ioredis and node-redis refuse it too.
    return undefined
  }
}

/** What was meant as a server, for a message: without the login of a URL, and without its query, which may have one. */
export function showServer(value: unknown): string {
  if (typeof value !== 'string') return show(value)
  return show(value.replace(/^([a-z]*:\/\/)?.*@/s, '$1***@').replace(/\?.*$/s, '?***'))
}

function decoded(part: string): string | undefined {
  return part === '' ? undefined : decodeURIComponent(part)
}

export function withoutUndefined<T extends object>(
  values: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as never
}
