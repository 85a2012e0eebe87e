// A master and its replicas with Sentinels. test/support/redis-sentinel.ts starts the same servers for tests. Neither
// file can load the other.
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort, newFolder, openAdmin, Server, startProgram } from './server.mjs'

const NAME = 'chaos'
/** Shorter periods of Sentinel, for Redis 7.0 and later. */
const PERIODS = ['info-period', 500, 'ping-period', 300, 'ask-period', 100, 'publish-period', 200]

export class Watched {
  static async start(db) {
    const watched = new Watched()
    const args = ['--repl-diskless-sync-delay', '0', '--repl-ping-replica-period', '1']
    watched.servers = await Promise.all([0, 1, 2].map(() => Server.start({ args, db })))
    const [master, ...replicas] = watched.servers
    await Promise.all(replicas.map(({ admin }) => admin.replicaof('127.0.0.1', master.port)))
    while ((await master.admin.wait(2, 100)) < 2);
    const ids = await Promise.all(
      [0, 1, 2].map(async () => ({ port: await freePort(), id: randomBytes(20).toString('hex') })),
    )
    watched.sentinels = await Promise.all(ids.map((one) => watched.#sentinel(one, ids)))
    await pause(1_000)
    return watched
  }

  async #sentinel(own, ids) {
    const [master, ...replicas] = this.servers
    const folder = newFolder()
    const lines = [
      'bind 127.0.0.1',
      `port ${own.port}`,
      `dir ${folder}`,
      `sentinel myid ${own.id}`,
      `sentinel monitor ${NAME} 127.0.0.1 ${master.port} 2`,
      `sentinel down-after-milliseconds ${NAME} 1000`,
      `sentinel failover-timeout ${NAME} 5000`,
      ...replicas.map((one) => `sentinel known-replica ${NAME} 127.0.0.1 ${one.port}`),
      ...ids
        .filter((one) => one !== own)
        .map((one) => `sentinel known-sentinel ${NAME} 127.0.0.1 ${one.port} ${one.id}`),
    ]
    const config = join(folder, 'sentinel.conf')
    writeFileSync(config, `${lines.join('\n')}\n`)
    const admin = openAdmin(own.port)
    const { child } = await startProgram([config, '--sentinel'], admin)
    await admin.call('SENTINEL', 'DEBUG', ...PERIODS).catch(() => {})
    return { child, admin, port: own.port }
  }

  /** The options of ioredis for a client that connects through its own proxies. */
  optionsBy(ways) {
    const sentinels = this.sentinels.map(({ port }) => ({ host: '127.0.0.1', port }))
    const entries = this.servers.map(({ port }, i) => [
      `127.0.0.1:${port}`,
      { host: '127.0.0.1', port: ways[i].port },
    ])
    return { sentinels, name: NAME, natMap: Object.fromEntries(entries) }
  }

  async #namedBy({ admin }) {
    const [, port] = await admin.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME)
    return this.servers.find((one) => one.port === Number(port))
  }

  /** The masters that Sentinels name: one, unless the Sentinels disagree. */
  async named() {
    return [...new Set(await Promise.all(this.sentinels.map((one) => this.#namedBy(one))))]
  }

  async master() {
    return this.#namedBy(this.sentinels[0])
  }

  /** Resolves when the first Sentinel names another master. */
  async #failover(begin) {
    const before = await this.master()
    await begin(before)
    for (let i = 0; i < 150 && (await this.master()) === before; i++) await pause(100)
    return this.master()
  }

  planned() {
    return this.#failover(() =>
      this.sentinels[0].admin.call('SENTINEL', 'FAILOVER', NAME).catch(() => {}),
    )
  }

  /** The old master returns as a replica. */
  async masterKilled(ms) {
    let killed
    const master = await this.#failover(async (before) => {
      killed = before
      await before.kill()
    })
    await pause(ms)
    await killed.restart(['--replicaof', '127.0.0.1', `${master.port}`])
  }

  /** When the old master continues, it acts as a master until a Sentinel changes it. */
  async masterStopped(ms) {
    let stopped
    await this.#failover((before) => {
      stopped = before
      before.stopNow()
    })
    await pause(ms)
    stopped.goOn()
  }

  async stop() {
    for (const { admin, child } of this.sentinels) {
      admin.disconnect()
      child.kill('SIGKILL')
    }
  }
}
