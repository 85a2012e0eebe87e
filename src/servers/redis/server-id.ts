import type { Connection } from './connection/connection.ts'
import { isCluster, type RedisClient } from './connection/open-client.ts'

/**
 * Identifies where the keys of a connection are: in a database of a server, or in a cluster. Only
 * multi-locks of several clients use these ids. The ids order the requests, and show whether a lock
 * was given twice.
 *
 * The id of a cluster is the id of one node, and a client reads it only once. If this node leaves,
 * older and newer clients have different ids. Multi-locks then hold locks only for a limited time
 * while they wait. A multi-lock may also wait for a lock that it already holds.
 */
export class ServerId {
  readonly #connection: Connection
  #cluster: string | null = null

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** @returns the id of the server or cluster; null if the server does not report an id */
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
