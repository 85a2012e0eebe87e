import { Cluster } from 'ioredis'
import { eventually } from './eventually.ts'
import { atEnd } from './lifetime.ts'
import { type FaultProxy, startProxy } from './proxy.ts'
import * as scripts from './scripts.ts'
import { type SettableServer, startSettable } from './settable-clock.ts'

const SLOTS = 16_384

/** One node. Clients reach the node through its proxy. */
export interface SettableNode {
  readonly server: SettableServer
  readonly proxy: FaultProxy
}

/**
 * Starts two servers whose clocks the test sets. Their proxies say that the servers are a cluster: the first server has
 * the lower half of the slots, the second the upper half. In fact, each server accepts every key.
 */
export async function startSettableCluster() {
  const nodes = await Promise.all([startNode(), startNode()])
  const half = SLOTS / 2
  const [first, second] = nodes
  for (const { proxy } of nodes) {
    proxy.answer(/^CLUSTER SLOTS/i, list(range(0, half - 1, first), range(half, SLOTS - 1, second)))
    proxy.answer(/^CLUSTER INFO/i, bulk('cluster_state:ok\r\n'))
  }
  return {
    first,
    second,
    /** Returns a new `Cluster` object, like a user's own client. */
    newInstance(): Cluster {
      const startNodes = nodes.map(({ proxy: { host, port } }) => ({ host, port }))
      const cluster = new Cluster(startNodes, { lazyConnect: true })
      atEnd(() => cluster.disconnect(), { beforeCheck: true })
      return cluster
    },
  }
}

async function startNode(): Promise<SettableNode> {
  const server = await startSettable()
  for (const { source } of Object.values(scripts)) await server.admin.script('LOAD', source)
  await eventually(async () => (await server.admin.ping()) === 'PONG')
  return { server, proxy: await startProxy(server.port) }
}

function range(from: number, to: number, { proxy }: SettableNode): string {
  return list(number(from), number(to), list(bulk(proxy.host), number(proxy.port), bulk(`${from}`)))
}

const list = (...parts: string[]) => `*${parts.length}\r\n${parts.join('')}`
const number = (n: number) => `:${n}\r\n`
const bulk = (text: string) => `$${text.length}\r\n${text}\r\n`
