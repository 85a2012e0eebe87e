// Servers whose clocks can be set: the embedded one of the tests, each in a process of its own.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { guard } from '../../../scripts/lib/native-server.mjs'
import { freePort, openAdmin, Server, startGuarded } from './server.mjs'

const PROGRAM = fileURLToPath(new URL('../../../test/support/settable-clock.mjs', import.meta.url))

export class SettableServer extends Server {
  /** How far its clock is ahead of that of the machine, in milliseconds. */
  aheadMs = 0

  static async start({ db = 0 } = {}) {
    const server = new SettableServer()
    server.port = await freePort()
    server.admin = openAdmin(server.port, { db })
    await server.run()
    return server
  }

  async run() {
    this.isDown = false
    this.aheadMs = 0
    const [program, ...words] = [...guard(), process.execPath, PROGRAM, `${this.port}`]
    // It ends when its input does.
    const start = () => spawn(program, words, { stdio: ['pipe', 'pipe', 'ignore'] })
    Object.assign(this, await startGuarded(start, this.admin))
    this.child.stdout.resume()
    this.child.stdin.on('error', () => {})
  }

  /** Sets its clock to so far ahead of the machine's, or behind it; done when it goes by that. */
  async setAhead(aheadMs) {
    if (this.isDown) return
    const stepMs = aheadMs - this.aheadMs
    this.aheadMs = aheadMs
    // It tells when it is done.
    const told = once(this.child.stdout, 'data')
    this.child.stdin.write(`${JSON.stringify({ stepMs })}\n`)
    await Promise.race([told, this.ended])
  }
}
