import { show } from '../kit/show.ts'

/** The server and the login in a URL. */
interface RedisUrl {
  readonly host: string
  readonly port: number | undefined
  readonly username: string | undefined
  readonly password: string | undefined
  readonly isTls: boolean
  /** The path without its first `/`. In a valid URL it is empty or the number of a database. */
  readonly database: string
  /** True if the URL has a query or a fragment. */
  readonly hasMore: boolean
}

/** Reads a redis:// or rediss:// URL. Returns undefined if the text is no such URL. */
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
    // The login contains a `%` that is not part of an escape sequence. ioredis and node-redis
    // refuse such a URL too.
    return undefined
  }
}

/**
 * Returns the server as messages show it, without the login of a URL. The query is also left out,
 * because it may contain a login.
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
