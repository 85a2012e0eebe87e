import { show } from '../kit/show.ts'

/** The server and the login in a URL. */
interface RedisUrl {
  readonly host: string
  readonly port: number | undefined
  readonly username: string | undefined
  readonly password: string | undefined
  readonly isTls: boolean
  /**
   * The path of the URL without its first `/`. In a valid URL the path is empty, or the number of a
   * database.
   */
  readonly database: string
  /** True if the URL has a query or a fragment. */
  readonly hasMore: boolean
}

/** Reads a redis:// or rediss:// URL. Returns undefined for any other text. */
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
    // The login contains a `%` that begins no escape sequence. ioredis and node-redis refuse such a
    // URL too.
    return undefined
  }
}

/**
 * Returns a server as text for messages. The login and the query of a URL are left out, because the
 * query may contain a login.
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
