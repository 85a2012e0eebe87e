import { addressOf, type Endpoint } from '../servers/endpoint.ts'
import { openServer, type ServerClient } from '../servers/open-server.ts'
import type { Where } from '../servers/where.ts'
import { slotOf } from './slot.ts'

/** Connections to all servers that have locks. */
export interface Masters {
  readonly all: readonly ServerClient[]
  /** Whether a majority of them has each lock; otherwise each lock is at one of them. */
  readonly isQuorum: boolean
  /** Of a quorum how many there are, with those that are down; else 1. */
  readonly count: number
  /** Whether channels are sharded there. */
  readonly isCluster: boolean
  /** The one that a key is at, where each has its own. */
  at(key: string): ServerClient
  close(): void
}

/** For people; no login. */
export function addressOfAll(where: Where): string {
  if (where.kind !== 'sentinel') return where.servers.map(addressOf).join(', ')
  return `${where.masterName} at ${where.sentinels.map(addressOf).join(', ')}`
}

/** @returns rejects with an Error for people where a server that is needed cannot be asked */
export async function openMasters(where: Where, timeoutMs: number): Promise<Masters> {
  const opened: ServerClient[] = []
  const open = async (endpoint: Endpoint) => {
    const client = await named(endpoint, openServer(endpoint, timeoutMs, 'of-each'))
    opened.push(client)
    return client
  }
  const close = () => {
    for (const client of opened) client.close()
  }
  try {
    if (where.kind === 'cluster') return { ...(await clusterOf(where.servers, open)), close }
    const endpoints = where.kind === 'sentinel' ? [await masterOf(where, timeoutMs)] : where.servers
    const all = await allOrMajority(endpoints.map(open))
    return {
      all,
      isQuorum: where.kind === 'masters',
      count: endpoints.length,
      isCluster: false,
      at: () => all[0] as ServerClient,
      close,
    }
  } catch (error) {
    close()
    throw error
  }
}

/** A minority of masters may be down. */
async function allOrMajority(opening: readonly Promise<ServerClient>[]): Promise<ServerClient[]> {
  const settled = await Promise.allSettled(opening)
  const up = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const down = settled.find((one) => one.status === 'rejected')
  if (down !== undefined && up.length <= opening.length / 2) throw down.reason
  return up
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

/** The first Sentinel that knows the master names it. */
async function masterOf(
  { sentinels, masterName, login, tls }: Extract<Where, { kind: 'sentinel' }>,
  timeoutMs: number,
): Promise<Endpoint> {
  let failure: unknown
  for (const sentinel of sentinels) {
    try {
      const client = await named(sentinel, openServer(sentinel, timeoutMs))
      const found = await client
        .ask('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', masterName)
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

type Range = readonly [first: number, last: number, master: readonly [string, number]]

async function clusterOf(
  starts: readonly Endpoint[],
  open: (endpoint: Endpoint) => Promise<ServerClient>,
): Promise<Omit<Masters, 'close'>> {
  let failure: unknown
  for (const start of starts) {
    try {
      const ranges = (await (await open(start)).ask('CLUSTER', 'SLOTS')) as Range[]
      // A node that nobody has spoken to yet does not know its own address.
      const endpointOf = ([host, port]: Range[2]) => ({ ...start, host: host || start.host, port })
      const endpoints = ranges.map(([, , master]) => endpointOf(master))
      const addresses = [...new Set(endpoints.map(addressOf))]
      const first = (address: string) => endpoints.find((one) => addressOf(one) === address)
      const all = await Promise.all(addresses.map((one) => open(first(one) as Endpoint)))
      const at = (key: string) => {
        const slot = slotOf(key)
        const i = ranges.findIndex(([from, to]) => from <= slot && slot <= to)
        const found = all.find(
          ({ endpoint }) => i !== -1 && addressOf(endpoint) === addressOf(endpoints[i] as Endpoint),
        )
        if (found === undefined) throw new Error(`No master of the cluster has slot ${slot}.`)
        return found
      }
      if (all.length === 0) throw new Error(`${addressOf(start)} knows no slots of a cluster.`)
      return { all, isQuorum: false, count: 1, isCluster: true, at }
    } catch (error) {
      failure ??= error
    }
  }
  throw failure
}
