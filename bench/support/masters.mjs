// Independent masters for the measurements of the quorum: they can be killed, stopped, shut down and
// started anew, and count what was done to them.
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort, now, startProcess } from './support.mjs'

/** The key that tells since when a master votes. */
const BIRTH = 'holdfast_birth'

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

  /** SIGKILL, and after that time started again: empty. */
  async killFor(ms) {
    this.admin.disconnect()
    await this.#server.kill()
    await this.#backAfter(ms)
  }

  /** Ends in good order, and is started again after that time: empty, for it writes nothing down. */
  async shutDownFor(ms) {
    this.admin.disconnect()
    await this.#server.kill('SIGTERM')
    await this.#backAfter(ms)
  }

  /** SIGSTOP, and after that time SIGCONT: accepts connections meanwhile, and never answers. */
  async stopFor(ms) {
    this.#server.signal('SIGSTOP')
    await pause(ms)
    this.#server.signal('SIGCONT')
  }

  signal(name) {
    this.#server.signal(name)
  }

  /** For good. */
  kill() {
    this.admin.disconnect()
    return this.#server.kill()
  }

  /** Lets it vote as if it had done so for long, whatever it has forgotten. */
  async letVote() {
    const runId = /run_id:(\w+)/.exec(await this.admin.info('server'))?.[1] ?? ''
    const replId = /master_replid:(\w+)/.exec(await this.admin.info('replication'))?.[1] ?? ''
    await this.admin.set(BIRTH, `0 ${runId} 0 ${replId} 60000`)
  }

  stop() {
    return this.#server.stop()
  }

  async #backAfter(ms) {
    await pause(ms)
    const { port } = this
    // The port may be somebody's for a moment.
    for (let left = 100; await isTaken(port); left--) {
      if (left === 0) throw new Error(`port ${port} was taken meanwhile`)
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

/** Masters on free loopback ports, ended with this process. */
export async function startMasters(count) {
  const masters = []
  for (let i = 0; i < count; i++) masters.push(new Master(await startProcess(await freePort())))
  return masters
}

/** When none of them rests any more, by their own clocks; what was never told since when rests. */
export async function untilAllVote(masters, timeoutMs = 30_000) {
  const end = now() + timeoutMs
  for (const { admin } of masters) {
    for (;;) {
      const [seconds, micros] = await admin.time()
      const since = Number((await admin.get(BIRTH))?.split(' ')[0] ?? Number.NaN)
      if (since <= Number(seconds) * 1e6 + Number(micros)) break
      if (now() > end) throw new Error('a master rests for too long')
      await pause(10)
    }
  }
}
