import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast, type HoldfastOptions } from '../../../src/index.ts'
import { startMasters } from '../../support/masters.ts'
import { rightsOf, withoutPrefix } from '../../support/places/rights.ts'
import { type RedisServer, startRedis } from '../../support/redis-server.ts'
import { DRIVES, type Use } from './drives.ts'

/** Returns the rights of the list with a prefix, and of the list without a prefix. */
export function listsOf(title: string): [string[], string[]] {
  const words = rightsOf(title)
  return [words, withoutPrefix(words)]
}

export interface Login {
  readonly user: string
  readonly keyPrefix: string
  readonly before?: string
}

export async function allow(
  { user, keyPrefix }: Login,
  servers: readonly RedisServer[],
  words: readonly string[],
) {
  const own = words.map((word) => word.replace('app:', keyPrefix))
  const rules = ['reset', 'resetchannels', 'on', '>secret', ...own]
  await Promise.all(servers.map(({ admin }) => admin.call('ACL', 'SETUSER', user, ...rules)))
}

interface Entry {
  readonly username: string
  readonly object: string
  readonly reason: string
}

/** Returns what all these servers refused, and clears their logs. */
export async function refusals(servers: readonly RedisServer[]): Promise<Entry[]> {
  const logs = await Promise.all(
    servers.map(({ admin }) => admin.call('ACL', 'LOG', '10000') as Promise<unknown[]>),
  )
  await Promise.all(servers.map(({ admin }) => admin.call('ACL', 'LOG', 'RESET')))
  return logs.flat().map((entry) => {
    if (!Array.isArray(entry)) return entry as Entry
    const pairs = entry.flatMap((name, i) => (i % 2 === 0 ? [[name, entry[i + 1]]] : []))
    return Object.fromEntries(pairs) as Entry
  })
}

/** This many logins use a kind at the same time. More logins would overload the machine. */
export const AT_ONCE = 8

export const CONFIG = { 'acllog-max-len': 10_000 }

export const serversFor = (kind: string) =>
  kind === 'masters'
    ? startMasters(3, { config: CONFIG })
    : Promise.all([startRedis({ config: CONFIG })])

/** Runs a drive with this login, and closes its clients. */
export async function drive(
  kind: string,
  servers: readonly RedisServer[],
  login: Login,
  how: (use: Use) => Promise<void> = DRIVES[kind] as (use: Use) => Promise<void>,
  longestMs = 30_000,
) {
  const clients: Holdfast[] = []
  const over = new AbortController()
  const { user: username, keyPrefix, before = '' } = login
  const addresses = servers.map(({ host, port }) => ({ host, port, username, password: 'secret' }))
  const place: HoldfastOptions =
    kind === 'masters'
      ? { masters: addresses, newDeployment: true, longestLeaseMs: 60_000 }
      : { redis: addresses[0] as object }
  const newClient = (options: Partial<HoldfastOptions> = {}) => {
    const client = new Holdfast({
      ...place,
      keyPrefix,
      outageMs: 1_500,
      commandTimeoutMs: 1_000,
      waitMs: 8_000,
      ...options,
    } as HoldfastOptions)
    client.on('error', () => undefined)
    clients.push(client)
    return client
  }
  try {
    const done = how({ servers, keyPrefix, before, newClient })
    done.catch(() => undefined)
    await Promise.race([
      done,
      pause(longestMs, undefined, { signal: over.signal }).catch(() => undefined),
    ])
  } finally {
    over.abort()
    await Promise.all(clients.map((client) => client.close()))
  }
}

export const LEFT = { keys: true, why: 'a login without a right cannot delete what it made' }
