import type { Connection } from './connection/connection.ts'
import { isCluster, type RedisClient } from './connection/open-client.ts'

/**
 * Identifies where the keys of a connection are: the database of a server, or the cluster.
 *
 * Only multi-locks of several clients use ids: to order their requests, and to find locks that are
 * given twice. The id of a cluster is the id of one node, and is kept forever. If this node leaves,
 * older and newer clients have different ids.
 *
 * With different ids, multi-locks hold locks for a limited time while they wait. If a lock is given
 * twice and the ids do not show that, the multi-lock waits for a lock that it already holds.
 */
export class ServerId {
  readonly #connection: Connection
  #cluster: string | null = null

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * @returns an id that is equal for all clients while the server runs, or the cluster exists; null
   * if the server does not report an id
   */
  async read(timeoutMs: number): Promise<string | null> {
    const send = (client: RedisClient) =>
      isCluster(client) ? client.cluster('NODES') : client.ping()
    if (this.#connection.clustered) {
      this.#cluster ??= firstNodeOf(await this.#connection.call(timeoutMs, send))
      return this.#cluster
    }
    if (!this.#connection.everUp) await this.#connection.call(timeoutMs, send)
    const { runId, database } = this.#connection
    return runId === '' ? null : `${runId}/${database}`
  }
}

/**
 * Returns the lowest id in the answer of `CLUSTER NODES`, in which each line begins with the id of
 * a node. A node that has not joined yet has a temporary id, so it is left out.
 */
function firstNodeOf(nodes: unknown): string | null {
  const joined = String(nodes)
    .split('\n')
    .filter((line) => line !== '' && !line.includes('handshake'))
    .sort()
  return joined[0]?.split(' ', 1)[0] ?? null
}
