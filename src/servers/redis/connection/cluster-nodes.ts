import type { Cluster, Redis } from 'ioredis'
import { outsideContexts } from '../../../kit/outside-contexts.ts'
import type { ConnectionEvents } from '../../availability/connection-events.ts'
import { connectionFailure, isNoNews } from './failure-of.ts'
import { reportWrites } from './node-writes.ts'
import { unrefShards, unrefSockets } from './sockets.ts'

/**
 * The interval at which the client asks for the nodes of a cluster while a node is unreachable, in
 * milliseconds.
 */
const LOOK_MS = 2_000

/**
 * Returns the master of the slot, as far as the cluster client knows. Undefined if the client has
 * no connection to this node.
 */
export function masterOf(cluster: Cluster, slot: number): Redis | undefined {
  const address = cluster.slots[slot]?.[0]
  return cluster.nodes().find((node) => addressOf(node) === address)
}

function addressOf({ options }: Redis): string {
  return `${options.host}:${options.port}`
}

/**
 * Watches the connections of a cluster client to its nodes.
 *
 * @param events receives which nodes become unreachable, and reachable again
 * @param onMoved called when keys may be gone or at another server. This can happen when a
 * connection to a node breaks, when a node is back, or when slots have another master
 */
export function watchNodes(
  cluster: Cluster,
  events: ConnectionEvents,
  onMoved: () => unknown,
): void {
  const known = new Set<string>()
  const failing = new Set<string>()
  let again: NodeJS.Timeout | undefined
  // Asks for the nodes of the cluster again while a node fails, because the node may be back or may
  // have left the cluster.
  const lookAgain = () => {
    again ??= outsideContexts(() => setTimeout(refresh, LOOK_MS)).unref()
  }
  const refresh = () => {
    again = undefined
    if (failing.size > 0 && cluster.status === 'ready') cluster.refreshSlotsCache()
  }
  cluster.on('end', () => clearTimeout(again))
  cluster.on('+node', (node: Redis) => {
    const address = addressOf(node)
    unrefSockets(node)
    reportWrites(node)
    handleAsking(node)
    node.on('error', (error: Error) => {
      if (isNoNews(error)) return
      failing.add(address)
      events.nodeFailed?.(address, connectionFailure(error))
      lookAgain()
    })
    // Connects to a failed node now. Otherwise the cluster client would wait for the next command
    // for this node.
    if (failing.has(address)) node.connect().catch(() => {})
    node.on('ready', () => {
      failing.delete(address)
      events.nodeUp?.(address)
      if (known.has(address)) onMoved()
      known.add(address)
      node.once('close', onMoved)
    })
  })
  cluster.on('+subscriber', () => unrefShards(cluster))
  let before: (string | undefined)[] = []
  cluster.on('refresh', () => {
    const listed = new Set(cluster.slots.flat())
    for (const address of failing) if (!listed.has(address)) failing.delete(address)
    events.nodesListed?.(listed)
    if (failing.size > 0) lookAgain()
    const masters = Array.from(cluster.slots, (nodes) => nodes?.[0])
    const isFirst = before.length === 0
    const isSame = masters.every((master, slot) => master === before[slot])
    before = masters
    if (!isFirst && !isSame) onMoved()
  })
}

/**
 * Handles the rejection of ASKING, which would otherwise end the process. The cluster client sends
 * ASKING before a command for a slot that moves, and ignores the result.
 */
function handleAsking(node: Redis): void {
  const asking = node.asking.bind(node)
  node.asking = () => {
    const asked = asking()
    asked.catch(() => {})
    return asked
  }
}

/**
 * Watches the connection on which a cluster client listens to plain channels. If the node is gone,
 * the client listens at another node.
 *
 * @param onGap called when the connection has ended, because messages may have been lost
 */
export function watchSubscriber(cluster: Cluster, onGap: () => void): void {
  const { subscriber } = cluster as unknown as { subscriber?: { getInstance(): Redis | null } }
  const seen = new WeakSet<Redis>()
  const watchCurrent = () => {
    const client = subscriber?.getInstance()
    if (client === null || client === undefined || seen.has(client)) return
    seen.add(client)
    unrefSockets(client)
    disconnectOnce(client)
    client.once('end', () => {
      watchCurrent()
      onGap()
    })
  }
  for (const event of ['ready', '+node', '-node', 'refresh']) cluster.on(event, watchCurrent)
}

/** Lets only the first `disconnect` act, because ioredis disconnects an old subscriber again and again. */
function disconnectOnce(client: Redis): void {
  const disconnect = client.disconnect
  client.disconnect = (reconnect) => {
    client.disconnect = () => {}
    disconnect.call(client, reconnect)
  }
}
