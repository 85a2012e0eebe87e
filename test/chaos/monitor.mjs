// What each server was asked to do with a lock, for whoever wants to know how an overlap came about.
import { now } from './random.mjs'

export class Monitor {
  #seen = []
  #connections = new Map()
  #isOver = false

  static async start(servers) {
    const monitor = new Monitor()
    await Promise.all(servers.map((server) => monitor.#follow(server)))
    return monitor
  }

  async #follow(server) {
    if (this.#isOver) return
    // It never connects again by itself, for it would be sent MONITOR in the middle of an answer.
    const connection = server.admin.duplicate({ protocol: 2, retryStrategy: null })
    this.#connections.set(server, connection)
    connection.on('error', () => {})
    connection.on('end', () => setTimeout(() => this.#follow(server), 20))
    const monitor = await connection.monitor().catch(() => undefined)
    monitor?.on('error', () => {})
    monitor?.on('monitor', (time, words, source) => {
      const at = Number(time) * 1_000 - (Date.now() - now())
      this.#seen.push({ at, port: server.port, source, words })
    })
    monitor?.on('end', () => connection.disconnect())
    if (monitor !== undefined) this.#connections.set(server, monitor)
  }

  /** What was asked about a lock at that time. */
  around(lock, from, to) {
    return this.#seen
      .filter(({ at, words }) => at >= from && at <= to && words.some((one) => one === lock))
      .sort((a, b) => a.at - b.at)
  }

  stop() {
    this.#isOver = true
    for (const connection of this.#connections.values()) connection.disconnect()
  }
}
