import { performance } from 'node:perf_hooks'
import { slotOf } from '../../../src/servers/redis/calls/cluster-slot.ts'
import { addressOf, type Endpoint } from '../../servers/endpoint.ts'
import type { ServerClient } from '../../servers/open-server.ts'
import type { Unreachable } from '../inspection.ts'
import type { Masters, OpenServer } from './masters.ts'

/** The least time between two attempts to reach unreachable nodes, in milliseconds. */
const AGAIN_MS = 5_000

interface Range {
  readonly first: number
  readonly last: number
  readonly address: string
}

/**
 * The masters of a cluster. If a node does not answer, only the locks in the slots of this node are
 * unavailable.
 */
export class ClusterMasters implements Masters {
  readonly isQuorum = false
  readonly count = 1
  readonly isCluster = true
  readonly disconnect: () => void
  readonly #starts: readonly Endpoint[]
  readonly #open: OpenServer
  /**
   * The connection to each known node, by address. Keeps the connection even if the node is no
   * longer a master.
   */
  readonly #connections = new Map<string, ServerClient>()
  #ranges: readonly Range[] = []
  #up = new Map<string, ServerClient>()
  #down = new Map<string, string>()
  #triedAt = 0
  #isTrying = false

  private constructor(starts: readonly Endpoint[], open: OpenServer, disconnect: () => void) {
    this.#starts = starts
    this.#open = open
    this.disconnect = disconnect
  }

  /** @returns rejects with a readable Error if none of the start nodes reports the slots */
  static async open(
    starts: readonly Endpoint[],
    open: OpenServer,
    disconnect: () => void,
  ): Promise<Masters> {
    const masters = new ClusterMasters(starts, open, disconnect)
    await masters.#connect()
    return masters
  }

  get all(): readonly ServerClient[] {
    return [...this.#up.values()]
  }

  get unreachable(): readonly Unreachable[] {
    return [...this.#down].map(([address, reason]) => ({ address, reason }))
  }

  at(key: string): ServerClient {
    const found = this.find(key)
    if (found !== undefined) return found
    const slot = slotOf(key)
    const address = this.#addressOf(slot)
    if (address === undefined) throw new Error(`No master of the cluster has slot ${slot}.`)
    throw new Error(
      `${this.#down.get(address) ?? `${address} cannot be asked.`} It has slot ${slot}.`,
    )
  }

  find(key: string): ServerClient | undefined {
    return this.#up.get(this.#addressOf(slotOf(key)) ?? '')
  }

  refresh(): void {
    if (this.#down.size === 0 || this.#isTrying) return
    if (performance.now() - this.#triedAt < AGAIN_MS) return
    this.#isTrying = true
    // Reads the slots again, because a replica may now be the master of the slots of an unreachable
    // node.
    this.#connect()
      .catch(() => undefined)
      .finally(() => {
        this.#isTrying = false
      })
  }

  async #connect(): Promise<void> {
    this.#triedAt = performance.now()
    const { ranges, endpoints } = await this.#slots()
    const opening = [...endpoints].map(async ([address, endpoint]) => {
      try {
        return { address, client: await this.#connected(endpoint) }
      } catch (error) {
        return { address, reason: (error as Error).message }
      }
    })
    const nodes = await Promise.all(opening)
    this.#ranges = ranges
    this.#up = new Map(
      nodes.flatMap(({ address, client }) => (client === undefined ? [] : [[address, client]])),
    )
    this.#down = new Map(
      nodes.flatMap(({ address, reason }) => (reason === undefined ? [] : [[address, reason]])),
    )
  }

  async #slots(): Promise<{ ranges: Range[]; endpoints: Map<string, Endpoint> }> {
    let failure: unknown
    for (const start of this.#starts) {
      try {
        return await slotsBy(await this.#connected(start), start)
      } catch (error) {
        failure ??= error
        this.#connections.get(addressOf(start))?.close()
        this.#connections.delete(addressOf(start))
      }
    }
    throw failure
  }

  async #connected(endpoint: Endpoint): Promise<ServerClient> {
    const address = addressOf(endpoint)
    const client = this.#connections.get(address) ?? (await this.#open(endpoint))
    this.#connections.set(address, client)
    return client
  }

  #addressOf(slot: number): string | undefined {
    return this.#ranges.find(({ first, last }) => first <= slot && slot <= last)?.address
  }
}

async function slotsBy(client: ServerClient, start: Endpoint) {
  type SlotMaster = readonly [
    host: string | null,
    port: number,
    id: string,
    more?: readonly string[],
  ]
  type Slots = readonly [first: number, last: number, master: SlotMaster]
  const slots = (await client.send('CLUSTER', 'SLOTS')) as Slots[]
  if (slots.length === 0) throw new Error(`${addressOf(start)} knows no slots of a cluster.`)
  const endpoints = new Map<string, Endpoint>()
  const ranges = slots.map(([first, last, [name, port, , more]]): Range => {
    // If a cluster prefers hostnames, Redis 7 reports `?` for a node without a hostname.
    const host = name === '?' ? ipIn(more) : name
    // A node that has not met another node does not know its own host. Then `start` has the host.
    const endpoint = { ...start, host: host || start.host, port }
    const address = addressOf(endpoint)
    endpoints.set(address, endpoint)
    return { first, last, address }
  })
  return { ranges, endpoints }
}

/**
 * Returns the IP address in the metadata of a node; undefined if there is none. The metadata is a
 * list of alternating names and values.
 */
function ipIn(more: readonly string[] = []): string | undefined {
  const i = more.indexOf('ip')
  return i < 0 ? undefined : more[i + 1]
}
