import type { HoldfastOptions } from '../../src/index.ts'
import type { Endpoint, Login, Tls } from './endpoint.ts'
import type { Where } from './where.ts'

type Given = Exclude<HoldfastOptions['redis'], undefined>
/**
 * A `redis` option of Holdfast for one server, a cluster or Sentinels, but never a client of
 * ioredis.
 */
export type RedisGiven = Exclude<Given, { sendCommand(...args: never[]): unknown }>

/**
 * Returns the `redis` options of Holdfast clients for these servers: one option for each of several
 * masters, otherwise one option.
 */
export function redisOf(where: Where): RedisGiven[] {
  if (where.kind === 'sentinel') {
    const { sentinels, masterName, login, tls } = where
    const [{ login: own, tls: ownTls }] = sentinels as [Endpoint]
    return [
      {
        sentinels: sentinels.map(({ host, port }) => ({ host, port })),
        name: masterName,
        ...accessOf(login, tls),
        ...(own.user !== undefined && { sentinelUsername: own.user }),
        ...(own.pass !== undefined && { sentinelPassword: own.pass }),
        ...(ownTls && { sentinelTLS: filesOf(ownTls) }),
      },
    ]
  }
  if (where.kind === 'cluster') {
    const [{ login, tls }] = where.servers as [Endpoint]
    const cluster = where.servers.map(({ host, port }) => ({ host, port }))
    return [{ cluster, ...accessOf(login, tls) }]
  }
  return where.servers.map(({ host, port, path, database, login, tls }) => ({
    ...(path === undefined ? { host, port } : { path }),
    db: database,
    ...accessOf(login, tls),
  }))
}

/** Returns the options of a Holdfast client that name these servers: `redis` or `masters`. */
export function clientOf(where: Where): Pick<HoldfastOptions, 'redis' | 'masters'> {
  const all = redisOf(where)
  if (where.kind !== 'masters') return { redis: all[0] as NonNullable<HoldfastOptions['redis']> }
  return { masters: all as NonNullable<HoldfastOptions['masters']> }
}

function accessOf({ user, pass }: Login, tls: Tls | undefined) {
  return {
    ...(user !== undefined && pass !== undefined && { username: user }),
    ...(pass !== undefined && { password: pass }),
    ...(tls && { tls: filesOf(tls) }),
  }
}

function filesOf({ ca, cert, key }: Tls) {
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }
}
