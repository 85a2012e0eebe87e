import { ServerClock } from './server-clock.ts'

/** A node of a cluster: the connection to it. */
interface Node {
  once(event: 'close', listener: () => void): unknown
}

/**
 * The clocks of the nodes of a cluster, which can differ by seconds. A node refuses the first
 * request, and the refusal contains the node's time. The clock is forgotten when the connection
 * closes, because the next connection may lead to another server.
 */
export class NodeClocks {
  readonly #clocks = new Map<Node, ServerClock>()
  #lateAtMostMs = 0

  of(node: Node): ServerClock {
    let clock = this.#clocks.get(node)
    if (clock === undefined) {
      const made = new ServerClock()
      node.once('close', () => {
        this.#lateAtMostMs = this.lateAtMostMs
        this.#clocks.delete(node)
      })
      this.#clocks.set(node, made)
      clock = made
    }
    return clock
  }

  /** How long after its deadline a request to any node may still run, in milliseconds. */
  get lateAtMostMs(): number {
    return Math.max(
      this.#lateAtMostMs,
      ...[...this.#clocks.values()].map(({ lateAtMostMs }) => lateAtMostMs),
    )
  }
}
