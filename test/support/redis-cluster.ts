import { eventually } from './eventually.ts'
import { type RedisServer, type StartOptions, startRedis } from './redis-server.ts'

const SLOTS = 16_384

/**
 * Options of a client. On a busy machine, a client may need many seconds to connect to all nodes, and nodes may answer
 * late. With these options, no call fails and no request is repeated.
 */
export const PATIENT = { commandTimeoutMs: 10_000, outageMs: 60_000 } as const

export interface ClusterOptions {
  masters?: number
  /** The number of replicas of each master. */
  replicas?: number
  /** Settings of redis.conf for every node. */
  config?: StartOptions['config']
}

/** A Redis cluster. Each node has its own loopback port. The start takes 2 s, because of a delay in Redis. */
export class RedisCluster {
  /** The masters at the start, in the order of their slots. */
  readonly masters: readonly RedisServer[]
  readonly replicas: readonly RedisServer[]

  constructor(masters: readonly RedisServer[], replicas: readonly RedisServer[]) {
    this.masters = masters
    this.replicas = replicas
  }

  get nodes(): readonly RedisServer[] {
    return [...this.masters, ...this.replicas]
  }

  /** Nodes for a new client: `new Cluster(cluster.startNodes)`. */
  get startNodes(): { host: string; port: number }[] {
    return this.masters.map(({ host, port }) => ({ host, port }))
  }

  /** The slot of a key or of a channel. */
  async slotOf(key: string): Promise<number> {
    return Number(await this.#first.admin.cluster('KEYSLOT', key))
  }

  /** Returns the master that had the slot of this key or channel at the start. */
  async masterOf(key: string): Promise<RedisServer> {
    const slot = await this.slotOf(key)
    return this.masters[Math.floor((slot * this.masters.length) / SLOTS)] as RedisServer
  }

  /** Returns the names of all keys and channels of a lock that exist now. */
  async namesOf(rawName: string): Promise<string[]> {
    const names = await Promise.all(
      this.masters.flatMap(({ admin }) => [
        admin.keys('*'),
        admin.pubsub('CHANNELS'),
        // Servers before Redis 7 have no sharded channels.
        admin.pubsub('SHARDCHANNELS').catch(() => []),
      ]),
    )
    // A client id may contain a short lock name by chance, but not between separators.
    const separated = (name: string) => `:${name.replace(/[{}]/g, ':')}:`
    return (names.flat() as string[]).filter((name) => separated(name).includes(separated(rawName)))
  }

  async flush(): Promise<void> {
    await Promise.all(this.masters.map((master) => master.flush()))
  }

  get #first(): RedisServer {
    return this.masters[0] as RedisServer
  }

  /** @internal */
  async form(): Promise<void> {
    // A node accepts an epoch only before it has met another node.
    await Promise.all(
      this.nodes.map(({ admin }, i) => admin.call('CLUSTER', 'SET-CONFIG-EPOCH', i + 1)),
    )
    const { host, port } = this.#first
    await Promise.all(
      this.nodes.slice(1).map(({ admin }) => admin.call('CLUSTER', 'MEET', host, port)),
    )
    const { length } = this.masters
    const firstSlot = (i: number) => Math.ceil((i * SLOTS) / length)
    await Promise.all(
      this.masters.map(({ admin }, i) =>
        admin.call('CLUSTER', 'ADDSLOTSRANGE', firstSlot(i), firstSlot(i + 1) - 1),
      ),
    )
    await this.#everyNode((info) => info.cluster_known_nodes === String(this.nodes.length))
    await Promise.all(
      this.replicas.map(async (replica, i) => {
        const master = this.masters[i % length] as RedisServer
        const id = String(await master.admin.call('CLUSTER', 'MYID'))
        // The replica may not know yet that this node is a master, so the command is repeated.
        await eventually(() => replica.admin.call('CLUSTER', 'REPLICATE', id))
        await eventually(async () => /state=online/.test(await master.admin.info('replication')))
        await replica.admin.readonly() // Otherwise the replica would redirect reads to its master.
      }),
    )
    await this.whole()
  }

  /** Resolves when every node reports that all slots are served. */
  whole(): Promise<void> {
    return this.#everyNode(
      (info) => info.cluster_state === 'ok' && info.cluster_slots_ok === String(SLOTS),
    )
  }

  async #everyNode(test: (info: Record<string, string>) => boolean): Promise<void> {
    for (const { admin } of this.nodes) {
      await eventually(async () => test(parse(String(await admin.cluster('INFO')))), {
        timeoutMs: 15_000,
        message: 'the cluster to come about',
      })
    }
  }
}

/** Starts a cluster. It ends with the running test, or with the file if no test runs. */
export async function startCluster({
  masters = 3,
  replicas = 0,
  config = {},
}: ClusterOptions = {}): Promise<RedisCluster> {
  const settings = {
    'cluster-enabled': 'yes',
    'cluster-config-file': 'nodes.conf',
    // On a busy machine, a node may stand still for a second. A cluster without failover must not count as down then.
    'cluster-node-timeout': replicas > 0 ? 1_000 : 30_000,
    'cluster-replica-validity-factor': 0,
    'repl-diskless-sync': 'yes',
    'repl-diskless-sync-delay': 0,
    'repl-ping-replica-period': 1,
    ...config,
  }
  const nodes = await Promise.all(
    Array.from({ length: masters * (1 + replicas) }, () => startRedis({ config: settings })),
  )
  const cluster = new RedisCluster(nodes.slice(0, masters), nodes.slice(masters))
  await cluster.form()
  return cluster
}

function parse(info: string): Record<string, string> {
  return Object.fromEntries(
    info
      .trim()
      .split(/\r?\n/)
      .map((line) => line.split(':') as [string, string]),
  )
}
