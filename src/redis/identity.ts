import type { Connection } from './connection.ts'
import { type Client, isCluster } from './open.ts'

/** Which server, or cluster, a connection leads to. */
export class Identity {
  readonly #connection: Connection
  #cluster: string | undefined

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** @returns what is the same for all clients as long as the server runs, or the cluster stands */
  async ask(timeoutMs: number): Promise<string> {
    const send = (client: Client) => (isCluster(client) ? client.cluster('NODES') : client.ping())
    if (this.#connection.clustered) {
      this.#cluster ??= firstNodeOf(await this.#connection.call(timeoutMs, send))
      return this.#cluster
    }
    if (!this.#connection.everUp) await this.#connection.call(timeoutMs, send)
    return this.#connection.runId
  }
}

/** Of what `CLUSTER NODES` tells: one line for each node, which begins with its id. */
function firstNodeOf(nodes: unknown): string {
  const [first = ''] = String(nodes).trim().split('\n').sort()
  return first.slice(0, first.indexOf(' '))
}
