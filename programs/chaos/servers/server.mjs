// Real servers for the chaos, each a process of its own that can be killed, stopped and started anew.
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

/** A folder that is gone when the chaos is over. */
export function newFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-chaos-'))
  folders.add(folder)
  return folder
}

const given = new Set()

/** Below the ports of outgoing connections, and so is the one that nodes of a cluster talk on. */
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

/** A login of ours, which no fault touches. */
export const LOGIN = { username: 'chaos', password: 'chaos' }
const USER = ['--user', LOGIN.username, 'on', `>${LOGIN.password}`, '~*', '&*', '+@all']

/** A connection of ours to a server, for as long as there is one on that port. */
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

/** Starts the server program with these words; done when it answers. */
export async function startProgram(words, admin) {
  const { path, env } = ensureServer()
  const [program, ...args] = [...guard(), path, ...words]
  const options = { stdio: 'ignore', env: { ...process.env, ...env } }
  return startGuarded(() => spawn(program, args, options), admin)
}

/** The same for what is started in another way. One that ends by itself is tried again: its port may be taken. */
export async function startGuarded(start, admin, tries = 10) {
  const child = start()
  running.add(child)
  const ended = once(child, 'exit').then(() => running.delete(child))
  for (;;) {
    // It may be loading its data still.
    const said = await Promise.race([admin.ping().catch(() => 'not yet'), ended])
    // Or a fault has come before that.
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
  /** Of all clients to this server. */
  ways = []
  /** Killed, or stopped by a signal: it can grant nothing. */
  isDown = false

  /**
   * @param persistent whether it writes all down before it answers
   * @param args what it is started with beside the usual
   * @param db the database that the locks are in
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
    // Written before it answers: that outlives the process, if not the machine.
    const aof = this.#persistent ? ['yes', '--appendfsync', 'no'] : ['no']
    args.push('--dir', this.#folder, '--appendonly', ...aof, '--enable-debug-command', 'yes')
    args.push(...USER)
    this.isDown = false
    Object.assign(this, await startProgram([...args, ...this.#args, ...more], this.admin))
  }

  /** Faults that end or stop it come one after another. */
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

  /** @param more words for this time only */
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

  /** 'master', 'slave', or undefined when it does not tell soon. */
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
