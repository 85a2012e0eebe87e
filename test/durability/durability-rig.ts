import { type DurabilityOptions, Holdfast, type HoldfastOptions } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { forward } from '../support/forward.ts'
import { atEnd } from '../support/lifetime.ts'
import { type FaultProxy, type ProxyRequest, startProxy } from '../support/proxy.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import * as scripts from '../support/scripts.ts'

/** A replica receives writes at once, and stays in the list while a test pauses it. */
const CONFIG = {
  'repl-diskless-sync': 'yes',
  'repl-diskless-sync-delay': 0,
  'repl-ping-replica-period': 1,
  'repl-timeout': 60,
}

export interface Rig {
  readonly master: RedisServer
  readonly replicas: readonly [RedisServer, ...RedisServer[]]
  /** The proxy between the master and all clients except the witnesses. Each test has a new proxy. */
  readonly proxy: FaultProxy
  /** Returns a client behind the proxy that requires replicas for its acquisitions. */
  client(durability: DurabilityOptions, options?: Omit<HoldfastOptions, 'redis'>): Holdfast
  /** Returns a client that connects to the master directly, without `durability`. */
  witness(): Holdfast
  /** Returns the holders of the lock on this server. */
  hash(name: string, server?: RedisServer): Promise<Record<string, string>>
}

/** Starts one master with replicas for the file. Before each test, the replicas have all data of the master. */
export function replicatedRig(count = 2): Rig {
  let servers: [RedisServer, ...RedisServer[]] | undefined
  let proxy: FaultProxy | undefined
  beforeAll(async () => {
    const all = Array.from({ length: 1 + count }, () => startRedis({ config: CONFIG }))
    servers = (await Promise.all(all)) as [RedisServer, ...RedisServer[]]
  })
  beforeEach(async () => {
    const [master, ...replicas] = servers as [RedisServer, ...RedisServer[]]
    await Promise.all([master, ...replicas].map((one) => one.revive()))
    await master.admin.replicaof('NO', 'ONE')
    await Promise.all(replicas.map(({ admin }) => admin.replicaof(master.host, master.port)))
    await keepUp(master, count)
    await master.flush()
    for (const { source } of Object.values(scripts)) await master.admin.script('LOAD', source)
    proxy = await startProxy(master.port)
  })
  const ready = () => {
    if (servers === undefined) throw new Error('The servers run in tests and hooks only')
    return servers
  }
  const clientOf = (options: HoldfastOptions) => {
    const client = new Holdfast({
      commandTimeoutMs: 500,
      outageMs: 4_000,
      leaseMs: 20_000,
      ...options,
    })
    atEnd(() => client.close(), { beforeCheck: true })
    return client
  }
  return {
    master: forward(() => ready()[0]),
    get replicas() {
      return ready().slice(1) as [RedisServer, ...RedisServer[]]
    },
    get proxy() {
      return proxy as FaultProxy
    },
    client(durability, options = {}) {
      const { host, port } = proxy as FaultProxy
      const client = clientOf({ redis: { host, port }, durability, ...options })
      const here = proxy as FaultProxy
      atEnd(() => here.heal(), { beforeCheck: true })
      return client
    },
    witness: () => clientOf({ redis: ready()[0].url }),
    hash: (name, server = ready()[0]) => server.admin.hgetall(name),
  }
}

/** Waits until this number of replicas has all data of the master. */
export async function keepUp(master: RedisServer, replicas: number): Promise<void> {
  await eventually(
    async () => {
      const info = await master.admin.info('replication')
      if (!info.includes(`connected_slaves:${replicas}`)) return false
      // A new replica receives nothing for a while, and could pass for a replica that has everything.
      await master.admin.publish('kept up', '')
      return (await master.admin.wait(replicas, 100)) === replicas
    },
    { message: `${replicas} replica(s) to keep up` },
  )
}

/** Matches the command WAIT, and not the word in another command. */
export const isWait = ({ command }: ProxyRequest) => command === 'WAIT'
