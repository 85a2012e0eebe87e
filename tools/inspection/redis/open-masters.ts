import { addressOf, type Endpoint } from '../../servers/endpoint.ts'
import { openServer, type ServerClient } from '../../servers/open-server.ts'
import type { Where } from '../../servers/where.ts'
import type { Unreachable } from '../inspection.ts'
import { ClusterMasters } from './cluster-masters.ts'
import type { Masters, OpenServer } from './masters.ts'

/** Returns the addresses of all servers as text for users. The text contains no login. */
export function addressOfAll(where: Where): string {
  if (where.kind !== 'sentinel') return where.servers.map(addressOf).join(', ')
  return `${where.masterName} at ${where.sentinels.map(addressOf).join(', ')}`
}

/**
 * @returns connections to all reachable servers. Rejects with a readable Error if no server can be
 * reached, or if no majority of several masters can be reached
 */
export async function openMasters(where: Where, timeoutMs: number): Promise<Masters> {
  const opened = new Set<ServerClient>()
  let isClosed = false
  const open: OpenServer = async (endpoint) => {
    const client = await named(endpoint, openServer(endpoint, timeoutMs, 'of-each'))
    // Closes the new connection if `disconnect` was called meanwhile, because an open connection
    // would keep the process alive.
    if (isClosed) client.close()
    else opened.add(client)
    return client
  }
  const disconnect = () => {
    isClosed = true
    for (const client of opened) client.close()
  }
  try {
    if (where.kind === 'cluster') return await ClusterMasters.open(where.servers, open, disconnect)
    const endpoints = where.kind === 'sentinel' ? [await masterOf(where, timeoutMs)] : where.servers
    const { all, unreachable } = await allOrMajority(endpoints, open)
    return {
      all,
      isQuorum: where.kind === 'masters',
      count: endpoints.length,
      isCluster: false,
      unreachable,
      at: () => all[0] as ServerClient,
      find: () => all[0],
      refresh: () => undefined,
      disconnect,
    }
  } catch (error) {
    disconnect()
    throw error
  }
}

/** Connects to all servers. Rejects unless a majority of the servers can be reached. */
async function allOrMajority(
  endpoints: readonly Endpoint[],
  open: OpenServer,
): Promise<{ all: ServerClient[]; unreachable: Unreachable[] }> {
  const settled = await Promise.allSettled(endpoints.map(open))
  const all = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const failures = settled.flatMap((one, i) =>
    one.status === 'rejected'
      ? [{ address: addressOf(endpoints[i] as Endpoint), reason: one.reason as Error }]
      : [],
  )
  const [first] = failures
  if (first !== undefined && all.length <= endpoints.length / 2) throw first.reason
  const unreachable = failures.map(({ address, reason }) => ({ address, reason: reason.message }))
  return { all, unreachable }
}

async function named<T>(endpoint: Endpoint, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    const { message } = error as Error
    throw new Error(`${addressOf(endpoint)} cannot be asked: ${message.replace(/\.+$/, '')}.`, {
      cause: error,
    })
  }
}

/**
 * Asks the Sentinels one after the other for the address of the master. Returns the first address.
 */
async function masterOf(
  { sentinels, masterName, login, tls }: Extract<Where, { kind: 'sentinel' }>,
  timeoutMs: number,
): Promise<Endpoint> {
  let failure: unknown
  for (const sentinel of sentinels) {
    try {
      const client = await named(sentinel, openServer(sentinel, timeoutMs))
      const found = await client
        .send('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', masterName)
        .finally(() => client.close())
      if (Array.isArray(found)) {
        const [host, port] = found.map(String) as [string, string]
        return { host, port: Number(port), path: undefined, database: 0, login, tls }
      }
      failure ??= new Error(`${addressOf(sentinel)} knows no master named ${masterName}.`)
    } catch (error) {
      failure ??= error
    }
  }
  throw failure
}
