import { randomBytes } from 'node:crypto'
import { closeSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { spawnDyingWithParent } from './die-with-parent.ts'
import { eventually } from './eventually.ts'
import { atEnd } from './lifetime.ts'
import { freePort } from './ports.ts'
import { RedisServer, type StartOptions, startRedis } from './redis-server.ts'
import { isRunning, newServerFolder } from './server-process.ts'

export interface SentinelOptions {
  replicas?: number
  sentinels?: number
  /** Sentinels report a master as down after this many milliseconds without an answer. */
  downAfterMs?: number
  /** Settings of redis.conf for every server. */
  config?: StartOptions['config']
  /** Further lines of sentinel.conf, for example users, and the login of the Sentinels at the servers. */
  lines?: readonly string[]
}

/** Shorter values for intervals of Sentinel that tests wait for. Redis 7.0 and later have these settings. */
const PERIODS = ['info-period', 500, 'ping-period', 300, 'ask-period', 100, 'publish-period', 200]

/** A master, its replicas, and the Sentinels that watch them. Each has its own loopback port. */
export class WatchedServers {
  readonly name = 'watched'
  /** The first one is the master at the start. */
  readonly servers: readonly RedisServer[]
  /** Inspect the Sentinels with `admin`. They can be killed, paused and resumed, but not restarted. */
  readonly sentinels: readonly RedisServer[]

  constructor(servers: readonly RedisServer[], sentinels: readonly RedisServer[]) {
    this.servers = servers
    this.sentinels = sentinels
  }

  /** Options of ioredis with which a client asks the Sentinels for the master. */
  get options(): { name: string; sentinels: { host: string; port: number }[] } {
    return { name: this.name, sentinels: this.sentinels.map(({ host, port }) => ({ host, port })) }
  }

  /** Returns the master that all Sentinels name. Waits while the Sentinels disagree. */
  async master(): Promise<RedisServer> {
    return eventually(async () => {
      const all = this.sentinels.filter(({ running, paused }) => running && !paused)
      const named = new Set(await Promise.all(all.map((one) => this.#namedBy(one))))
      const [first] = named
      return named.size === 1 && first
    })
  }

  /**
   * Starts a planned failover. The Sentinels tell the old master about its new role only after some seconds.
   *
   * @returns the new master, as soon as all Sentinels name it
   */
  async failover(): Promise<RedisServer> {
    const before = await this.master()
    const [first] = this.sentinels as [RedisServer]
    await eventually(
      async () => {
        if ((await this.#namedBy(first)) !== before) return true
        // Sentinel refuses the command during another failover. On a busy machine that failover may fail, so the
        // command is repeated.
        await first.admin.call('SENTINEL', 'FAILOVER', this.name).catch(() => undefined)
        return false
      },
      { timeoutMs: 25_000, everyMs: 5 },
    )
    return this.master()
  }

  async #namedBy({ admin }: RedisServer): Promise<RedisServer | undefined> {
    const address = await admin.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', this.name)
    return this.servers.find(({ port }) => port === Number((address as string[])[1]))
  }

  /** Waits until each replica has all data of the master. A new replica receives nothing for up to a second. */
  async replicated(): Promise<void> {
    const { admin } = await this.master()
    await eventually(async () => {
      await admin.ping() // WAIT covers only writes before the previous command of this connection.
      return (await admin.wait(this.servers.length - 1, 1_000)) === this.servers.length - 1
    })
  }

  /** Empties the master, and with it the replicas. */
  async flush(): Promise<void> {
    await (await this.master()).flush()
  }
}

/** Starts the servers and Sentinels. They end with the running test, or with the file if no test runs. */
export async function startWatched({
  replicas = 2,
  sentinels = 3,
  downAfterMs = 1_000,
  config = {},
  lines = [],
}: SentinelOptions = {}): Promise<WatchedServers> {
  const settings = {
    'repl-diskless-sync': 'yes',
    'repl-diskless-sync-delay': 0,
    'repl-ping-replica-period': 1,
    ...config,
  }
  const servers = await Promise.all(
    Array.from({ length: 1 + replicas }, () => startRedis({ config: settings })),
  )
  const [master, ...others] = servers as [RedisServer, ...RedisServer[]]
  await Promise.all(others.map(({ admin }) => admin.replicaof(master.host, master.port)))
  await eventually(async () => (await master.admin.wait(replicas, 100)) === replicas)
  const ports = await Promise.all(Array.from({ length: sentinels }, freePort))
  // The configuration names the other Sentinels, because Sentinels need 2 s to find each other.
  const all = ports.map((port) => ({ port, id: randomBytes(20).toString('hex') }))
  const watched = new WatchedServers(
    servers,
    await Promise.all(
      all.map((one) => {
        const known = all.filter((other) => other !== one)
        return startSentinel(one, known, master, others, downAfterMs, lines)
      }),
    ),
  )
  const [first] = watched.sentinels as [RedisServer]
  await eventually(async () => {
    await first.admin.call('SENTINEL', 'CKQUORUM', watched.name)
    const seen = (await first.admin.call('SENTINEL', 'REPLICAS', watched.name)) as string[][]
    // A Sentinel uses a replica for a failover only after the replica has answered.
    return seen.every((one) => one.includes('slave') && one.includes('ok'))
  })
  return watched
}

interface SentinelId {
  readonly port: number
  readonly id: string
}

async function startSentinel(
  { port, id }: SentinelId,
  known: readonly SentinelId[],
  master: RedisServer,
  replicas: readonly RedisServer[],
  downAfterMs: number,
  furtherLines: readonly string[],
): Promise<RedisServer> {
  const dir = newServerFolder()
  const config = join(dir, 'sentinel.conf')
  const name = 'watched'
  const lines = [
    'bind 127.0.0.1',
    `port ${port}`,
    `dir ${dir}`,
    `sentinel myid ${id}`,
    `sentinel monitor ${name} ${master.host} ${master.port} ${Math.floor(known.length / 2) + 1}`,
    `sentinel down-after-milliseconds ${name} ${downAfterMs}`,
    `sentinel failover-timeout ${name} 10000`,
    ...replicas.map((one) => `sentinel known-replica ${name} ${one.host} ${one.port}`),
    ...known.map((one) => `sentinel known-sentinel ${name} 127.0.0.1 ${one.port} ${one.id}`),
    ...furtherLines,
  ]
  writeFileSync(config, `${lines.join('\n')}\n`)
  const log = openSync(join(dir, 'server.log'), 'w')
  const server = process.env.HOLDFAST_REDIS_SERVER ?? 'redis-server'
  const child = spawnDyingWithParent(server, [config, '--sentinel'], {
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  child.on('error', () => undefined) // `isRunning` below detects a failed start.
  const sentinel = new RedisServer(child, port, dir, {})
  atEnd(() => sentinel.stop())
  await eventually(
    async () => {
      if (!isRunning(child)) return true
      return String(await sentinel.admin.call('SENTINEL', 'MYID')) === id
    },
    { message: 'a Sentinel to answer' },
  )
  if (!isRunning(child)) throw new Error(`The Sentinel on port ${port} did not start`)
  await sentinel.admin.call('SENTINEL', 'DEBUG', ...PERIODS).catch(() => undefined)
  child.unref()
  return sentinel
}
