// What each server was asked to do with a lock, for whoever wants to know how an overlap came about.
import { now } from './random.mjs'

export class Monitor {
  #seen = []
  #connections = []

  static async start(servers) {
    const monitor = new Monitor()
    await Promise.all(servers.map((server) => monitor.#follow(server)))
    return monitor
  }

  async #follow({ admin, port }) {
    const connection = await admin.duplicate().monitor()
    this.#connections.push(connection)
    connection.on('error', () => {})
    connection.on('monitor', (time, words, source) => {
      const at = Number(time) * 1_000 - (Date.now() - now())
      this.#seen.push({ at, port, source, words })
    })
  }

  /** What was asked about a lock at that time. */
  around(lock, from, to) {
    return this.#seen
      .filter(({ at, words }) => at >= from && at <= to && words.some((one) => one === lock))
      .sort((a, b) => a.at - b.at)
  }

  stop() {
    for (const connection of this.#connections) connection.disconnect()
  }
}
