import type { Endpoint } from '../../servers/endpoint.ts'
import { openServer } from '../../servers/open-server.ts'
import { answerOf, type ClusterFacts, type ClusterNode, factOf, type ServerFacts } from './facts.ts'
import { namesOf } from './names.ts'
import { readServer, type ServerQuestion } from './read-server.ts'

/**
 * Reads the nodes of the cluster from the first start node that knows several nodes. Then asks each
 * node with a known address.
 */
export async function readCluster(
  starts: readonly Endpoint[],
  question: ServerQuestion,
): Promise<{ cluster: ClusterFacts; servers: ServerFacts[] }> {
  const [first] = starts as [Endpoint]
  const views = await Promise.all(starts.map((start) => viewOf(start, question)))
  const cluster = views.find(({ nodes }) => (answerOf(nodes)?.length ?? 0) > 1) ?? views[0]
  const nodes = answerOf((cluster as ClusterFacts).nodes) ?? []
  // Without a cluster, or if no node answers, only the given servers are checked.
  if (nodes.length < 2) {
    const servers = await Promise.all(starts.map((start) => readServer(start, question)))
    return { cluster: cluster as ClusterFacts, servers }
  }
  const known = nodes.filter(({ flags }) => !flags.some((flag) => /noaddr|handshake/.test(flag)))
  const servers = known.map((node) => {
    const as = node.flags.includes('slave') ? 'replica' : 'master'
    return readServer(endpointOf(node, first), { ...question, as })
  })
  return { cluster: cluster as ClusterFacts, servers: await Promise.all(servers) }
}

async function viewOf(endpoint: Endpoint, { budget }: ServerQuestion): Promise<ClusterFacts> {
  try {
    const client = await openServer(endpoint, budget.timeoutMs)
    try {
      const [info, nodes] = await Promise.all([
        factOf(async () => namesOf(await client.send('CLUSTER', 'INFO'))),
        factOf(async () => nodesOf(String(await client.send('CLUSTER', 'NODES')), endpoint)),
      ])
      return { info, nodes }
    } finally {
      client.close()
    }
  } catch (error) {
    const none = { unknown: (error as Error).message }
    return { info: none, nodes: none }
  }
}

/**
 * Reads lines of the form `<id> <ip:port@bus,host> <flags> <master> <ping> <pong> <epoch> <link>
 * <slot>…`.
 */
function nodesOf(text: string, { host }: Pick<Endpoint, 'host'>): ClusterNode[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [id = '', position = '', flags = '', , , , , , ...ranges] = line.split(' ')
      // A node that has met no other node does not know its own host, so `host` is used.
      const address = position.replace(/@.*/, '').replace(/^(?=:)/, host)
      const slots = ranges.map((range) => /^(\d+)(?:-(\d+))?$/.exec(range))
      const count = slots.reduce(
        (sum, range) => sum + (range ? Number(range[2] ?? range[1]) - Number(range[1]) + 1 : 0),
        0,
      )
      return { id, address, flags: flags.split(','), slots: count }
    })
}

function endpointOf({ address }: ClusterNode, like: Endpoint): Endpoint {
  const at = address.lastIndexOf(':')
  return { ...like, host: address.slice(0, at), port: Number(address.slice(at + 1)), database: 0 }
}
