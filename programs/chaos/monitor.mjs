// Records the commands that each server ran for a lock. The report prints these commands beside an overlap.
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { now } from './random.mjs'
import { LOGIN } from './servers/server.mjs'

export class Monitor {
  #seen = []
  #sockets = new Map()
  #isOver = false

  constructor(servers) {
    for (const { port } of servers) this.#follow(port)
  }

  #follow(port) {
    if (this.#isOver) return
    const socket = connect(port, '127.0.0.1')
    this.#sockets.set(port, socket)
    socket.on('error', () => {})
    socket.on('close', () => setTimeout(() => this.#follow(port), 20))
    socket.write(`AUTH ${LOGIN.username} ${LOGIN.password}\r\nMONITOR\r\n`)
    const lines = createInterface({ input: socket })
    lines.on('error', () => {})
    lines.on('line', (line) => {
      const [, time, words] = /^\+(\d+\.\d+) (.*)$/.exec(line) ?? []
      if (time === undefined) return
      const at = Number(time) * 1_000 - (Date.now() - now())
      this.#seen.push({ at, port, words })
    })
  }

  /** The commands for a lock between two times. */
  around(lock, from, to) {
    return this.#seen
      .filter(({ at, words }) => at >= from && at <= to && words.includes(`"${lock}"`))
      .sort((a, b) => a.at - b.at)
  }

  stop() {
    this.#isOver = true
    for (const socket of this.#sockets.values()) socket.destroy()
  }
}
