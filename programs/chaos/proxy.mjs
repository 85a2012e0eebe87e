// A proxy between one client and one server. It can cut, block and delay the connections, and drop data.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** Answers that no script of Holdfast gives. */
const ODD = ['$5\r\nwhat?\r\n', '*0\r\n', '*1\r\n$5\r\nwhat?\r\n', ':-7\r\n']

export class Way {
  #oddAnswers = 0
  #target
  #listener
  #pairs = new Set()
  /** The blocked directions, 'toServer' and 'toClient'. The proxy keeps the data of these directions. */
  #blocked = new Set()
  #refuses = false
  #delayMs = 0
  /** The number of requests with a script that will still get an invalid answer. */
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

  /** Sends new connections to another server, like an address that stays the same after a failover. */
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

  /** Closes the connections to the server. The client sides stay open, and receive nothing until the proxy heals. */
  halfOpen() {
    for (const pair of this.#pairs) pair.leave()
  }

  /** Gives an invalid answer to the next `count` requests with a script. Each of these connections then ends. */
  answerOddly(count) {
    this.#odd = count
  }

  /**
   * @param deliver true if the proxy then delivers the data that it kept; otherwise the proxy cuts the blocked
   * connections
   */
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
      // The server still runs some of these requests.
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
        // After the proxy has healed, queued data has no delay.
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
      // While the direction is blocked, the end of a connection does not arrive either.
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
