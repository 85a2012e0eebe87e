import type { Connection } from './connection/connection.ts'
import { type Client, isCluster } from './connection/open-client.ts'

/** Where the keys of a connection are: in which database of which server, or in which cluster. */
export class ServerId {
  readonly #connection: Connection
  #cluster: string | null = null

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * @returns what is the same for all clients as long as the server runs, or the cluster stands;
   * null when it does not tell
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
 * Of what `CLUSTER NODES` tells: one line for each node, which begins with its id. One that is yet
 * to join has another id for so long.
 */
function firstNodeOf(nodes: unknown): string | null {
  const joined = String(nodes)
    .split('\n')
    .filter((line) => line !== '' && !line.includes('handshake'))
    .sort()
  return joined[0]?.split(' ', 1)[0] ?? null
}
