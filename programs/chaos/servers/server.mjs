// Real servers, each in its own process. The faults can kill, stop and restart them.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { ensureServer, guard } from '../../../scripts/lib/native-server.mjs'

const folders = new Set()
const running = new Set()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** A folder that is deleted at the end of the run. */
export function newFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-chaos-'))
  folders.add(folder)
  return folder
}

const given = new Set()

/** All ports, and the bus ports of cluster nodes, are below the ports of outgoing connections. */
const PORTS = { first: 12_000, count: 10_000, toBus: 10_000 }

export async function freePort() {
  for (;;) {
    const port = PORTS.first + Math.floor(Math.random() * PORTS.count)
    if (given.has(port) || !(await isFree(port)) || !(await isFree(port + PORTS.toBus))) continue
    given.add(port)
    return port
  }
}

async function isFree(port) {
  const probe = createServer()
  probe.listen(port, '127.0.0.1')
  const free = await Promise.race([
    once(probe, 'listening').then(() => true),
    new Promise((resolve) => probe.once('error', () => resolve(false))),
  ])
  probe.close()
  return free
}

/** The login of this program. No fault concerns it. */
export const LOGIN = { username: 'chaos', password: 'chaos' }
const USER = ['--user', LOGIN.username, 'on', `>${LOGIN.password}`, '~*', '&*', '+@all']

/** A connection of this program to a server. It reconnects whenever a server has this port. */
export function openAdmin(port, options) {
  const admin = new Redis(port, {
    ...options,
    maxRetriesPerRequest: null,
    retryStrategy: () => 10,
    enableReadyCheck: false,
  })
  admin.on('error', () => {})
  return admin
}

/** Starts the server program with these arguments. Resolves when it answers. */
export async function startProgram(words, admin) {
  const { path, env } = ensureServer()
  const [program, ...args] = [...guard(), path, ...words]
  const options = { stdio: 'ignore', env: { ...process.env, ...env } }
  return startGuarded(() => spawn(program, args, options), admin)
}

/**
 * Starts a server in another way. If the process ends by itself, its port may be in use, so the start is repeated.
 */
export async function startGuarded(start, admin, tries = 10) {
  const child = start()
  running.add(child)
  const ended = once(child, 'exit').then(() => running.delete(child))
  for (;;) {
    // The server may still be loading its data.
    const said = await Promise.race([admin.ping().catch(() => 'not yet'), ended])
    // The server answers, or a fault has already ended it.
    if (said === 'PONG' || child.signalCode !== null) return { child, ended }
    if (child.exitCode !== null && tries > 1) {
      await pause(200)
      return startGuarded(start, admin, tries - 1)
    }
    if (child.exitCode !== null) throw new Error(`A server ends at once, with ${child.exitCode}`)
    await pause(10)
  }
}

export class Server {
  #persistent
  #folder = newFolder()
  #args
  #turn = Promise.resolve()
  /** The proxies of all clients to this server. */
  ways = []
  /** True if the server was killed, or stopped by a signal: it can grant nothing. */
  isDown = false

  /**
   * @param persistent true if the server writes each change to disk before it answers
   * @param args additional arguments of the server
   * @param db the database of the locks
   */
  static async start({ persistent = false, args = [], db = 0 } = {}) {
    const server = new Server()
    server.#persistent = persistent
    server.#args = args
    server.port = await freePort()
    server.admin = openAdmin(server.port, { ...LOGIN, db })
    await server.run()
    return server
  }

  async run(more = []) {
    const args = ['--port', `${this.port}`, '--bind', '127.0.0.1', '--save', '']
    // The server writes before it answers. The data survives the end of the process, but not of the machine.
    const aof = this.#persistent ? ['yes', '--appendfsync', 'no'] : ['no']
    args.push('--dir', this.#folder, '--appendonly', ...aof, '--enable-debug-command', 'yes')
    args.push(...USER)
    this.isDown = false
    Object.assign(this, await startProgram([...args, ...this.#args, ...more], this.admin))
  }

  /** Faults that end or stop the server happen one after another. */
  inTurn(work) {
    const done = this.#turn.then(work)
    this.#turn = done.catch(() => {})
    return done
  }

  async kill() {
    this.isDown = true
    this.child.kill('SIGKILL')
    await this.ended
  }

  /** @param more arguments only for this start */
  restart(more) {
    return this.run(more)
  }

  async stopped(ms) {
    this.stopNow()
    await pause(ms)
    this.goOn()
  }

  stopNow() {
    this.child.kill('SIGSTOP')
    this.isDown = true
  }

  goOn() {
    this.isDown = false
    this.child.kill('SIGCONT')
  }

  /** 'master' or 'slave'; undefined if the server does not answer soon. */
  async role() {
    const answer = this.admin.role().then(([role]) => role)
    return Promise.race([answer.catch(() => undefined), pause(500, undefined, { ref: false })])
  }

  async stop() {
    this.admin.disconnect()
    await this.kill()
    rmSync(this.#folder, { recursive: true, force: true })
    folders.delete(this.#folder)
  }
}
