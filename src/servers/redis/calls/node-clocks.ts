import { ServerClock } from './server-clock.ts'

/** A node of a cluster, as it is known here: the connection to it. */
interface Node {
  once(event: 'close', listener: () => void): unknown
}

/**
 * The clocks of the nodes of a cluster, which may be seconds apart. Each is learned from the answer to
 * the first request, which is refused, and forgotten with the connection: another server may be there next.
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

  /** How long after the time that it was given a request to any of them may still run, in milliseconds. */
  get lateAtMostMs(): number {
    return Math.max(
      this.#lateAtMostMs,
      ...[...this.#clocks.values()].map(({ lateAtMostMs }) => lateAtMostMs),
    )
  }
}
