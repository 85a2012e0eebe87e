// Servers with clocks that can be set: the embedded server of the tests, each in its own process.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { guard } from '../../../scripts/lib/native-server.mjs'
import { freePort, openAdmin, Server, startGuarded } from './server.mjs'

const PROGRAM = fileURLToPath(new URL('../../../test/support/settable-clock.mjs', import.meta.url))

export class SettableServer extends Server {
  /**
   * The difference between its clock and the clock of the machine, in milliseconds. It is positive if its clock is
   * ahead.
   */
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
    // The process ends when its input ends.
    const start = () => spawn(program, words, { stdio: ['pipe', 'pipe', 'ignore'] })
    Object.assign(this, await startGuarded(start, this.admin))
    this.child.stdout.resume()
    this.child.stdin.on('error', () => {})
  }

  /**
   * Sets the difference between its clock and the clock of the machine. Resolves when the server uses the new time.
   */
  async setAhead(aheadMs) {
    if (this.isDown) return
    const stepMs = aheadMs - this.aheadMs
    this.aheadMs = aheadMs
    // The process writes a line when the clock is set.
    const told = once(this.child.stdout, 'data')
    this.child.stdin.write(`${JSON.stringify({ stepMs })}\n`)
    await Promise.race([told, this.ended])
  }
}
