// One server, some services, occasional faults, and a sample of each service at equal intervals.
import { appendFileSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { forkGuarded } from '../chaos/clients.mjs'
import { ALL_FORGOTTEN } from '../chaos/faults/amnesia.mjs'
import { NETWORK } from '../chaos/faults/network.mjs'
import { ALONE, SERVER } from '../chaos/faults/server.mjs'
import { Way } from '../chaos/proxy.mjs'
import { now, pick, pickWeighted, randomFrom } from '../chaos/random.mjs'
import { Server } from '../chaos/servers/server.mjs'

/** The mean time between two faults, in milliseconds. */
const GAP_MS = 10_000
/** Longer than the lease of the workers (5 s). So some leases outlive a fault, and others do not. */
const LONGEST_FAULT_MS = 6_000
const CLOSE_MS = 30_000

export class Soak {
  #options
  #random
  #server
  #workers = []
  #startedAt = now()
  #isOver = false
  #busy
  result

  constructor(options) {
    this.#options = options
    this.#random = randomFrom(options.seed)
    this.result = { options, samples: [], faults: [], unexpected: [], closedMs: [] }
    if (options.samples) writeFileSync(options.samples, `${JSON.stringify(options)}\n`)
  }

  async run() {
    this.#server = await Server.start({ persistent: true })
    for (let i = 0; i < this.#options.workers; i++) await this.#open(i + 1)
    this.#startedAt = now()
    const faults = this.#fault()
    const end = this.#startedAt + this.#options.minutes * 60_000
    while (now() < end) {
      await pause(Math.min(this.#options.every * 1_000, end - now()))
      await this.#sample()
    }
    this.#isOver = true
    await faults
    await Promise.all(this.#workers.map((worker) => this.#close(worker)))
    await this.#server.stop()
    return this.result
  }

  #at = (time = now()) => (time - this.#startedAt) / 1_000

  #keep(kind, list, one) {
    this.result[list].push(one)
    const { samples } = this.#options
    const line = typeof one === 'object' ? one : kind === 'closed' ? { ms: one } : { what: one }
    if (samples) appendFileSync(samples, `${JSON.stringify({ kind, ...line })}\n`)
  }

  async #open(n) {
    const way = await new Way(this.#server.port).open()
    this.#server.ways.push(way)
    const label = `service-${n}`
    const { callers, pause: pauseMs, leak } = this.#options
    const seed = Math.floor(this.#random() * 2 ** 31)
    const directPort = this.#server.port
    const settings = { label, seed, port: way.port, directPort, callers, pauseMs, leak }
    const url = new URL('worker.mjs', import.meta.url)
    const child = forkGuarded(url, JSON.stringify(settings))
    child.on('message', ({ unexpected }) => {
      if (unexpected === undefined) return
      console.log(`${this.#at().toFixed(1)} s UNEXPECTED ${unexpected}`)
      this.#keep('unexpected', 'unexpected', unexpected)
    })
    child.on('exit', (code, signal) => {
      if (!this.#isOver)
        this.#keep('unexpected', 'unexpected', `${label} ended (${code ?? signal})`)
    })
    this.#workers.push({ label, way, child })
  }

  #ask({ child }, message, key) {
    return new Promise((resolve) => {
      const heard = (answer) => {
        if (!(key in answer)) return
        child.off('message', heard)
        resolve(answer[key])
      }
      child.on('message', heard)
      child.send(message, () => {})
    })
  }

  /** Takes a sample between two faults, so that it shows what remains after a fault. */
  async #sample() {
    await this.#busy
    const services = await Promise.all(
      this.#workers.map((worker) => this.#ask(worker, { kind: 'sample' }, 'sample')),
    )
    const [keys, memory, clients, stats] = await this.#answers()
    const number = (text, name) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(text)?.[1])
    const server = {
      keys,
      memory: number(memory, 'used_memory'),
      connections: number(clients, 'connected_clients'),
      channels: number(stats, 'pubsub_channels'),
    }
    this.#keep('sample', 'samples', { at: this.#at(), services, server })
  }

  /** A server that was restarted refuses all commands until it has loaded its data. */
  async #answers() {
    const { admin } = this.#server
    for (;;) {
      try {
        const infos = ['memory', 'clients', 'stats'].map((section) => admin.info(section))
        return await Promise.all([admin.dbsize(), ...infos])
      } catch (error) {
        if (!error.message.startsWith('LOADING')) throw error
        await pause(50)
      }
    }
  }

  async #fault() {
    const random = this.#random
    while (!this.#isOver) {
      await pause(random() * 2 * Math.min(GAP_MS, this.#options.minutes * 6_000))
      if (this.#isOver) return
      const ms = pickWeighted(random, [
        [6, 5 + random() * 100],
        [3, 100 + random() * 900],
        [1, 1_000 + random() * (LONGEST_FAULT_MS - 1_000)],
      ])
      const [what, where, done] = this.#begin(random, ms)
      const from = this.#at()
      this.#busy = done.catch((error) =>
        this.#keep('unexpected', 'unexpected', `${what}: ${error}`),
      )
      await this.#busy
      this.#keep('fault', 'faults', { what, where, from, to: this.#at() })
    }
  }

  #begin(random, ms) {
    const worker = pick(random, this.#workers)
    const onWay = () => {
      const what = pick(random, Object.keys(NETWORK))
      return [what, worker.label, NETWORK[what]([worker.way], ms, random)]
    }
    const onServer = () => {
      const all = { ...SERVER, ...ALONE }
      const what = pick(random, Object.keys(all))
      return [what, 'server', Promise.resolve(all[what](this.#server, ms))]
    }
    const onProcess = () => {
      const what = pick(random, ['paused', 'stalled'])
      return [`process ${what}`, worker.label, this.#onProcess(worker, what, ms)]
    }
    const onData = () => ['emptied', 'server', ALL_FORGOTTEN.emptied(this.#server)]
    return pickWeighted(random, [
      [6, onWay],
      [4, onServer],
      [2, onProcess],
      [1, onData],
    ])()
  }

  async #onProcess({ child }, what, ms) {
    if (what === 'stalled') child.send({ kind: 'stall', ms })
    else child.kill('SIGSTOP')
    await pause(ms)
    if (what === 'paused') child.kill('SIGCONT')
  }

  async #close(worker) {
    const closed = this.#ask(worker, { kind: 'stop' }, 'closedMs')
    const ms = await Promise.race([closed, pause(CLOSE_MS, undefined, { ref: false })])
    if (ms === undefined) this.#keep('unexpected', 'unexpected', `${worker.label} does not close`)
    else this.#keep('closed', 'closedMs', ms)
    worker.child.kill('SIGKILL')
    worker.way.close()
  }
}
