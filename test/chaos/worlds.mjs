// Real servers for the chaos, each an own process that can be killed, stopped and started anew.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { ensureServer } from '../../scripts/native-server.mjs'

const folders = new Set()
const servers = new Set()
process.on('exit', () => {
  for (const server of servers) server.process.kill('SIGKILL')
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address()
  probe.close()
  await once(probe, 'close')
  return port
}

export class Server {
  #persistent
  #folder

  /** @param persistent whether it writes all down before it answers */
  static async start(persistent) {
    const server = new Server()
    server.#persistent = persistent
    server.#folder = mkdtempSync(join(tmpdir(), 'holdfast-chaos-'))
    folders.add(server.#folder)
    server.port = await freePort()
    servers.add(server)
    await server.#run()
    return server
  }

  async #run() {
    const { path, env } = ensureServer()
    const args = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '']
    const aof = this.#persistent ? ['yes', '--appendfsync', 'always'] : ['no']
    args.push('--dir', this.#folder, '--appendonly', ...aof, '--enable-debug-command', 'yes')
    this.process = spawn(path, args, { stdio: 'ignore', env: { ...process.env, ...env } })
    this.ended = once(this.process, 'exit')
    this.admin?.disconnect()
    this.admin = new Redis(this.port, { maxRetriesPerRequest: null, retryStrategy: () => 10 })
    this.admin.on('error', () => {})
    await this.admin.ping()
  }

  async kill() {
    this.process.kill('SIGKILL')
    await this.ended
  }

  restart() {
    return this.#run()
  }

  signal(name) {
    this.process.kill(name)
  }

  async stop() {
    this.admin.disconnect()
    servers.delete(this)
    await this.kill()
    rmSync(this.#folder, { recursive: true, force: true })
    folders.delete(this.#folder)
  }
}

/** How many servers, and how clients are made for them. */
export const WORLDS = {
  single: { servers: 1, isQuorum: false },
  quorum3: { servers: 3, isQuorum: true },
  quorum5: { servers: 5, isQuorum: true },
}
