import { Cluster, type Redis } from 'ioredis'
import { adminBy, commandOf } from '../admin-by.ts'
import { type RedisCluster, startCluster } from '../redis-cluster.ts'
import { UserInstance } from '../user-instance.ts'
import { inTurn, type Place, type PlaceServer, type Way } from './place.ts'

/** So long that a master on a machine that stalls for a moment does not count as down. */
const NODE_TIMEOUT_MS = 15_000

/** Three masters, each with one replica. */
const SIZE = { masters: 3, replicas: 1, config: { 'cluster-node-timeout': NODE_TIMEOUT_MS } }

export async function startClusterPlace(): Promise<Place> {
  const cluster = await startCluster(SIZE)
  return { server: new ClusterAsOne(cluster), way: waysTo(cluster) }
}

/**
 * Starts a cluster without sharded channels, like a cluster before Redis 7. A client that uses a sharded channel fails.
 */
export async function startPlainClusterPlace(): Promise<Place> {
  const rights = ['-ssubscribe', '-sunsubscribe', '-spublish']
  const cluster = await startCluster({
    ...SIZE,
    config: {
      ...SIZE.config,
      user: ['default', 'on', 'nopass', '~*', '&*', '+@all', ...rights],
    },
  })
  return {
    server: new ClusterAsOne(cluster),
    options: () => ({ shardedPubSub: false }),
    countsListeners: false,
    way: waysTo(cluster),
  }
}

/** Clients find the cluster through a `Cluster` of the user, which is connected or not yet connected. */
function waysTo({ startNodes }: RedisCluster): () => Way {
  const by = (instance: UserInstance<Cluster>) => ({
    redis: instance.redis,
    afterClose: () => instance.checkAndEnd(),
  })
  return inTurn([
    () => by(new UserInstance(new Cluster(startNodes, { lazyConnect: true }))),
    () => by(new UserInstance(new Cluster(startNodes))),
  ])
}

/**
 * A cluster, used like one server: a command goes to the master of its key. A command without a key goes to all nodes.
 */
class ClusterAsOne implements PlaceServer {
  readonly admin: Redis
  readonly #cluster: RedisCluster

  constructor(cluster: RedisCluster) {
    this.#cluster = cluster
    this.admin = adminBy((command, args) => this.#ask(command, args))
  }

  flush(): Promise<void> {
    return this.#cluster.flush()
  }

  /** Kills all masters at once, so that no master can vote for a replica. */
  async kill(): Promise<void> {
    await Promise.all(this.#cluster.masters.map((master) => master.kill()))
  }

  async restart(): Promise<void> {
    await Promise.all(this.#cluster.masters.map((master) => master.restart()))
    await this.#cluster.whole()
  }

  async revive(): Promise<void> {
    const areUp = this.#cluster.nodes.every(({ running, paused }) => running && !paused)
    if (areUp) return
    await Promise.all(this.#cluster.nodes.map((node) => node.revive()))
    await this.#cluster.whole()
  }

  async #ask(command: string, args: unknown[]): Promise<unknown> {
    const [first] = args
    if (command === 'keys') return (await this.#each(command, args)).flat()
    if (command === 'dbsize') return sum(await this.#each(command, args))
    if (first === 'NUMSUB') return this.#listeners(command, args)
    if (command === 'pubsub') return this.#channels()
    if (command === 'client')
      return (await this.#ofAllNodes(command, args)).map(clientsIn).join('\n')
    if (command === 'info') return sumOfCalls(await this.#each(command, args))
    const { admin } = await this.#cluster.masterOf(String(first))
    return commandOf(admin, command, args)
  }

  #each(command: string, args: unknown[]): Promise<unknown[]> {
    return Promise.all(this.#cluster.masters.map(({ admin }) => commandOf(admin, command, args)))
  }

  #ofAllNodes(command: string, args: unknown[]): Promise<unknown[]> {
    return Promise.all(this.#cluster.nodes.map(({ admin }) => commandOf(admin, command, args)))
  }

  async #listeners(command: string, args: unknown[]): Promise<unknown[]> {
    const counts = (await this.#ofAllNodes(command, args)) as [string, number][]
    return [args[1], sum(counts.map(([, count]) => count))]
  }

  /** Lists all channels. Each node may have the subscribers of a channel that is not sharded. */
  async #channels(): Promise<unknown[]> {
    const kinds = ['CHANNELS', 'SHARDCHANNELS']
    const found = await Promise.all(kinds.map((kind) => this.#ofAllNodes('pubsub', [kind])))
    return [...new Set(found.flat(2))]
  }
}

/** Removes the connections of replicas from the list of clients. */
function clientsIn(list: unknown): string {
  const lines = String(list).trim().split('\n')
  return lines.filter((line) => !/ flags=[SM]/.test(line)).join('\n')
}

function sum(numbers: readonly unknown[]): number {
  return numbers.reduce<number>((total, one) => total + Number(one), 0)
}

/** Adds up the only number of `INFO commandstats` that tests read. */
function sumOfCalls(infos: readonly unknown[]): string {
  const calls = infos.map((info) => /cmdstat_evalsha:calls=(\d+)/.exec(String(info))?.[1] ?? 0)
  return `cmdstat_evalsha:calls=${sum(calls)}`
}
