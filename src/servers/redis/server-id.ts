import type { Connection } from './connection/connection.ts'
import { type Client, isCluster } from './connection/open-client.ts'

/**
 * Identifies where the keys of a connection are: the database of a server, or the cluster.
 *
 * The id of a cluster is kept forever. If that node leaves, older and newer clients disagree about
 * the id. The disagreement does no harm, because only multi-locks of several clients use ids. They
 * use ids to order their requests, and to find locks that are given twice. With different orders
 * they hold locks for a limited time while they wait. If a lock is given twice and the ids do not
 * show that, the multi-lock waits for a lock that it already holds.
 */
export class ServerId {
  readonly #connection: Connection
  #cluster: string | null = null

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * @returns an id that is equal for all clients while the server runs, or the cluster exists; null
   * if the server does not report one
   */
  async ask(timeoutMs: number): Promise<string | null> {
    const send = (client: Client) => (isCluster(client) ? client.cluster('NODES') : client.ping())
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
 * The lowest id in the answer of `CLUSTER NODES`, in which each line begins with the id of a node.
 * A node that has not joined yet has a temporary id, so it is left out.
 */
function firstNodeOf(nodes: unknown): string | null {
  const joined = String(nodes)
    .split('\n')
    .filter((line) => line !== '' && !line.includes('handshake'))
    .sort()
  return joined[0]?.split(' ', 1)[0] ?? null
}
