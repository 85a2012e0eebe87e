// Independent masters for the measurements of the quorum. The program can kill, stop, shut down and restart them.
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort, now, startProcess } from './support.mjs'

/** The key with the time from which a master votes. */
export const BIRTH = 'holdfast_birth'

/** Sets the mark with which a master votes at once. */
export async function letVote(client) {
  const runId = /run_id:(\w+)/.exec(await client.info('server'))?.[1] ?? ''
  const replId = /master_replid:(\w+)/.exec(await client.info('replication'))?.[1] ?? ''
  await client.set(BIRTH, `0 ${runId} 0 ${replId} 60000`)
}

class Master {
  #server

  constructor(server) {
    this.#server = server
  }

  get port() {
    return this.#server.port
  }

  get url() {
    return this.#server.url
  }

  get admin() {
    return this.#server.admin
  }

  /** Kills the server with SIGKILL, and restarts it empty after `ms`. */
  async killFor(ms) {
    this.admin.disconnect()
    await this.#server.kill()
    await this.#backAfter(ms)
  }

  /** Shuts the server down, and restarts it after `ms`. The server is empty then, because it has no persistence. */
  async shutDownFor(ms) {
    this.admin.disconnect()
    await this.#server.kill('SIGTERM')
    await this.#backAfter(ms)
  }

  /** Stops the server with SIGSTOP for `ms`. Meanwhile the server accepts connections, and never answers. */
  async stopFor(ms) {
    this.#server.signal('SIGSTOP')
    await pause(ms)
    this.#server.signal('SIGCONT')
  }

  signal(name) {
    this.#server.signal(name)
  }

  /** Kills the server, without a restart. */
  kill() {
    this.admin.disconnect()
    return this.#server.kill()
  }

  /** Lets the master vote at once, even if it has lost data. */
  letVote() {
    return letVote(this.admin)
  }

  stop() {
    return this.#server.stop()
  }

  async #backAfter(ms) {
    await pause(ms)
    const { port } = this
    // Another program may use the port for a moment.
    for (let left = 100; await isTaken(port); left--) {
      if (left === 0) throw new Error(`another program uses port ${port}`)
      await pause(20)
    }
    this.#server = await startProcess(port)
  }
}

async function isTaken(port) {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

/** Starts masters on free loopback ports. The masters end with this process. */
export async function startMasters(count) {
  const masters = []
  for (let i = 0; i < count; i++) masters.push(new Master(await startProcess(await freePort())))
  return masters
}

/** Resolves when each master votes, by its own clock. A master without the key does not vote yet. */
export async function untilAllVote(masters, timeoutMs = 30_000) {
  const end = now() + timeoutMs
  for (const { admin } of masters) {
    for (;;) {
      const [seconds, micros] = await admin.time()
      const since = Number((await admin.get(BIRTH))?.split(' ')[0] ?? Number.NaN)
      if (since <= Number(seconds) * 1e6 + Number(micros)) break
      if (now() > end) throw new Error('a master rests too long')
      await pause(10)
    }
  }
}
