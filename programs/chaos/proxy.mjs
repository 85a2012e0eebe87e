// The way of one client to one server, which can be cut, blocked, slowed down and made deaf.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** What no script of ours answers. */
const ODD = ['$5\r\nwhat?\r\n', '*0\r\n', '*1\r\n$5\r\nwhat?\r\n', ':-7\r\n']

export class Way {
  #oddAnswers = 0
  #target
  #listener
  #pairs = new Set()
  /** What is not let through: 'toServer', 'toClient'. What comes meanwhile is kept. */
  #blocked = new Set()
  #refuses = false
  #delayMs = 0
  /** How many requests with a script are still to be answered with what makes no sense. */
  #odd = 0

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

  /** The server's end is gone; the client's stays open and hears nothing, until this way heals. */
  halfOpen() {
    for (const pair of this.#pairs) pair.leave()
  }

  /** So many requests with a script get an answer that makes no sense; then their connection ends. */
  answerOddly(count) {
    this.#odd = count
  }

  /** @param deliver whether what was kept back comes through late; else its connections are cut */
  heal(deliver = true) {
    const wasBlocked = this.#blocked.size > 0
    this.#refuses = false
    this.#delayMs = 0
    this.#odd = 0
    this.#blocked.clear()
    for (const pair of this.#pairs) if (pair.isLeft) pair.destroy()
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
    const isOdd = (chunk) => {
      if (this.#odd === 0 || !/evalsha/i.test(chunk)) return false
      this.#odd -= 1
      // The server may have run it.
      if (this.#odd % 2 === 0) server.write(chunk)
      setImmediate(() => pair.answerOddly())
      return true
    }
    const lanes = [
      this.#lane(client, server, 'toServer', isOdd),
      this.#lane(server, client, 'toClient', () => false),
    ]
    const pair = {
      isLeft: false,
      leave: () => {
        pair.isLeft = true
        for (const lane of lanes) lane.forget()
        server.resetAndDestroy()
      },
      answerOddly: () => {
        pair.leave()
        client.end(ODD[this.#oddAnswers++ % ODD.length])
      },
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
    const closed = () => {
      if (client.destroyed && server.destroyed) this.#pairs.delete(pair)
    }
    client.on('close', closed)
    server.on('close', closed)
  }

  #lane(from, to, direction, isTaken) {
    const kept = []
    let isLeft = false
    let sending = Promise.resolve()
    const send = (chunk) => {
      sending = sending.then(async () => {
        // What has queued up goes on without a delay when the way has healed.
        if (this.#delayMs > 0) await pause(this.#delayMs)
        if (!to.destroyed && !isLeft) to.write(chunk)
      })
    }
    from.setNoDelay(true)
    from.on('error', () => {})
    from.on('data', (chunk) => {
      if (isLeft || isTaken(chunk)) return
      if (this.#blocked.has(direction) || kept.length > 0) kept.push(chunk)
      else send(chunk)
    })
    from.on('close', () => {
      // A dead peer says nothing where nothing comes through.
      if (!this.#blocked.has(direction) && !isLeft) void sending.then(() => to.end())
    })
    return {
      forget: () => {
        isLeft = true
      },
      flush: () => {
        if (isLeft) return
        for (const chunk of kept.splice(0)) send(chunk)
        if (from.destroyed) void sending.then(() => to.end())
      },
    }
  }
}
