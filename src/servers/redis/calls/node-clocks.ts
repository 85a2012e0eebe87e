import { ServerClock } from './server-clock.ts'

/** The connection to one node of a cluster. */
interface NodeConnection {
  once(event: 'close', listener: () => void): unknown
}

/**
 * The estimated clock of each node of a cluster. The clocks of two nodes can differ by seconds.
 *
 * A node refuses its first request with a deadline as late, and reports its time in the refusal.
 * When the connection closes, the client drops the estimate, because the next connection may lead
 * to another server.
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

  /** A node may run a request up to this long after the deadline, in milliseconds. */
  get lateAtMostMs(): number {
    return Math.max(
      this.#lateAtMostMs,
      ...[...this.#clocks.values()].map(({ lateAtMostMs }) => lateAtMostMs),
    )
  }
}
