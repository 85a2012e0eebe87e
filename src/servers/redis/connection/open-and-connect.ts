import { outsideContexts } from '../../../kit/outside-contexts.ts'
import { watchNodes } from './cluster-nodes.ts'
import { isNoNews } from './failure-of.ts'
import type { RedisEvents } from './handshake.ts'
import { type ConnectionSettings, isCluster, openClient, type RedisClient } from './open-client.ts'
import { prepareClient } from './prepare-client.ts'

/** The functions that a connection runs when its ioredis client reports an event. */
interface ClientEvents {
  /** Returns the pause before the next attempt to connect, in milliseconds. */
  nextMs(): number
  failed(error: Error): void
  ready(client: RedisClient): void
  closed(): void
  /** Called when ioredis makes no further attempt. `connect` makes one. */
  ended(connect: () => unknown): void
  /** Called in a cluster when keys may be gone or at another node. */
  moved(): void
}

/** Creates an ioredis client and begins to connect. */
export function openAndConnect(
  settings: ConnectionSettings,
  nodeEvents: RedisEvents,
  { nextMs, failed, ready, closed, ended, moved }: ClientEvents,
): RedisClient {
  const client = openClient(settings, nextMs)
  client.on('error', (error: Error) => {
    if (!isNoNews(error)) failed(error)
  })
  client.on('ready', () => ready(client))
  client.on('close', closed)
  // ioredis gives up if no Sentinel answers, or if the address is invalid.
  client.on('end', () => ended(() => client.connect().catch(() => {})))
  if (isCluster(client)) watchNodes(client, nodeEvents, moved)
  else prepareClient(client)
  outsideContexts(() => client.connect()).catch(() => {}) // The 'error' event reports failures.
  return client
}
