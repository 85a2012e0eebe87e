// Real servers for the chaos, each an own process that can be killed, stopped and started anew.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { freePort } from '../../bench/support.mjs'
import { ensureServer } from '../../scripts/native-server.mjs'

const folders = new Set()
const servers = new Set()
process.on('exit', () => {
  for (const server of servers) server.process.kill('SIGKILL')
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

export class Server {
  #persistent
  #folder
  #args

  /**
   * @param persistent whether it writes all down before it answers
   * @param args what it is started with beside the usual
   */
  static async start(persistent, args = []) {
    const server = new Server()
    server.#persistent = persistent
    server.#args = args
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
    args.push(
      '--dir',
      this.#folder,
      '--appendonly',
      ...aof,
      '--enable-debug-command',
      'yes',
      ...this.#args,
    )
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

/** A master and its replicas, watched by Sentinels. */
export class Watched {
  name = 'chaos'

  static async start() {
    const watched = new Watched()
    const args = ['--repl-diskless-sync-delay', '0', '--repl-ping-replica-period', '1']
    watched.servers = await Promise.all([0, 1, 2].map(() => Server.start(false, args)))
    const [master, ...replicas] = watched.servers
    await Promise.all(replicas.map(({ admin }) => admin.replicaof('127.0.0.1', master.port)))
    while ((await master.admin.wait(2, 100)) < 2);
    const ids = await Promise.all(
      [0, 1, 2].map(async () => ({ port: await freePort(), id: randomBytes(20).toString('hex') })),
    )
    watched.sentinels = await Promise.all(ids.map((one) => watched.#sentinel(one, ids, replicas)))
    await pause(1_000)
    return watched
  }

  async #sentinel(own, ids, replicas) {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-chaos-'))
    folders.add(folder)
    const { name } = this
    const [{ port }] = this.servers
    const lines = [
      'bind 127.0.0.1',
      `port ${own.port}`,
      `dir ${folder}`,
      `sentinel myid ${own.id}`,
      `sentinel monitor ${name} 127.0.0.1 ${port} 2`,
      `sentinel down-after-milliseconds ${name} 800`,
      `sentinel failover-timeout ${name} 5000`,
      ...replicas.map((one) => `sentinel known-replica ${name} 127.0.0.1 ${one.port}`),
      ...ids
        .filter((one) => one !== own)
        .map((one) => `sentinel known-sentinel ${name} 127.0.0.1 ${one.port} ${one.id}`),
    ]
    const config = join(folder, 'sentinel.conf')
    writeFileSync(config, `${lines.join('\n')}\n`)
    const { path, env } = ensureServer()
    const child = spawn(path, [config, '--sentinel'], {
      stdio: 'ignore',
      env: { ...process.env, ...env },
    })
    const admin = new Redis(own.port, { maxRetriesPerRequest: null, retryStrategy: () => 10 })
    admin.on('error', () => {})
    await admin.ping()
    const periods = ['info-period', 500, 'ping-period', 300, 'ask-period', 100]
    await admin.call('SENTINEL', 'DEBUG', ...periods, 'publish-period', 200).catch(() => {})
    const sentinel = { port: own.port, admin, process: child }
    servers.add(sentinel)
    return sentinel
  }

  get options() {
    const sentinels = this.sentinels.map(({ port }) => ({ host: '127.0.0.1', port }))
    return { sentinels, name: this.name }
  }

  async master() {
    const [, port] = await this.sentinels[0].admin.call(
      'SENTINEL',
      'GET-MASTER-ADDR-BY-NAME',
      this.name,
    )
    return this.servers.find((one) => one.port === Number(port))
  }

  /** Done when the Sentinels name another one. */
  async failover(begin) {
    const before = await this.master()
    await begin(before)
    for (let i = 0; i < 150 && (await this.master()) === before; i++) await pause(100)
  }

  planned() {
    return this.failover(() =>
      this.sentinels[0].admin.call('SENTINEL', 'FAILOVER', this.name).catch(() => {}),
    )
  }

  async stop() {
    for (const { admin, process: child } of this.sentinels) {
      admin.disconnect()
      child.kill('SIGKILL')
    }
  }
}

/** How many servers, and how clients are made for them. */
export const WORLDS = {
  single: { servers: 1, isQuorum: false },
  quorum3: { servers: 3, isQuorum: true },
  quorum5: { servers: 5, isQuorum: true },
  sentinel: { servers: 3, isQuorum: false, isWatched: true },
}
