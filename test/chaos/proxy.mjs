// The way of one client to one server, which can be cut, blocked, slowed down and made deaf.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

export class Way {
  #target
  #listener
  #pairs = new Set()
  /** What is not let through: 'toServer', 'toClient'. What comes meanwhile is kept. */
  #blocked = new Set()
  #refuses = false
  #delayMs = 0

  constructor(target) {
    this.#target = target
  }

  async open() {
    this.#listener = createServer((socket) => this.#pair(socket))
    this.#listener.listen(0, '127.0.0.1')
    await once(this.#listener, 'listening')
    return this
  }

  get port() {
    return this.#listener.address().port
  }

  /** New connections go to another server, as behind an address that stays. */
  leadTo(target) {
    this.#target = target
  }

  cut() {
    for (const pair of this.#pairs) pair.destroy()
  }

  refuse() {
    this.#refuses = true
    this.cut()
  }

  block(...directions) {
    for (const direction of directions) this.#blocked.add(direction)
  }

  delay(ms) {
    this.#delayMs = ms
  }

  /** @param deliver whether what was kept back comes through late; else its connections are cut */
  heal(deliver = true) {
    const wasBlocked = this.#blocked.size > 0
    this.#refuses = false
    this.#delayMs = 0
    this.#blocked.clear()
    if (wasBlocked && !deliver) this.cut()
    else for (const pair of this.#pairs) pair.flush()
  }

  close() {
    this.cut()
    this.#listener.close()
  }

  #pair(client) {
    if (this.#refuses) {
      client.resetAndDestroy()
      return
    }
    const server = connect(this.#target, '127.0.0.1')
    const lanes = [this.#lane(client, server, 'toServer'), this.#lane(server, client, 'toClient')]
    const pair = {
      destroy: () => {
        this.#pairs.delete(pair)
        client.resetAndDestroy()
        server.resetAndDestroy()
      },
      flush: () => {
        for (const lane of lanes) lane.flush()
      },
    }
    this.#pairs.add(pair)
  }

  #lane(from, to, direction) {
    const kept = []
    let sending = Promise.resolve()
    const send = (chunk) => {
      const ms = this.#delayMs
      sending = sending.then(async () => {
        if (ms > 0) await pause(ms)
        if (!to.destroyed) to.write(chunk)
      })
    }
    from.setNoDelay(true)
    from.on('error', () => {})
    from.on('data', (chunk) => {
      if (this.#blocked.has(direction) || kept.length > 0) kept.push(chunk)
      else send(chunk)
    })
    from.on('close', () => {
      // A dead peer says nothing where nothing comes through.
      if (!this.#blocked.has(direction)) void sending.then(() => to.end())
    })
    return {
      flush: () => {
        for (const chunk of kept.splice(0)) send(chunk)
        if (from.destroyed) void sending.then(() => to.end())
      },
    }
  }
}
