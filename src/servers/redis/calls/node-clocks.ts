import { ServerClock } from './server-clock.ts'

/** The connection to one node of a cluster. */
interface NodeConnection {
  once(event: 'close', listener: () => void): unknown
}

/**
 * The estimated clocks of the nodes of a cluster. The clocks of two nodes can differ by seconds. A
 * clock is forgotten when the connection closes, because the next connection may lead to another
 * server.
 *
 * The first request to a node is refused as late, and the refusal contains the node's time.
 */
export class NodeClocks {
  readonly #clocks = new Map<NodeConnection, ServerClock>()
  #lateAtMostMs = 0

  of(node: NodeConnection): ServerClock {
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
