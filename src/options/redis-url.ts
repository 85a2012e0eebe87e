import { show } from '../kit/show.ts'

/** The server and the login in a URL. */
interface RedisUrl {
  readonly host: string
  readonly port: number | undefined
  readonly username: string | undefined
  readonly password: string | undefined
  readonly isTls: boolean
  /** The path without its first `/`: the number of a database, if it is valid. */
  readonly database: string
  /** True if a query or a fragment follows. */
  readonly hasMore: boolean
}

/** Reads a redis:// or rediss:// URL; undefined if the text is no such URL. */
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
    // The login has a `%` that escapes nothing. ioredis and node-redis refuse it too.
    return undefined
  }
}

/**
 * Shows the server in a message, without the login of a URL. The query is left out, because it may
 * contain a login.
 */
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
