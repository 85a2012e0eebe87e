import { eventually } from '../eventually.ts'
import { type RedisServer, startRedis } from '../redis-server.ts'
import type { Place, PlaceServer } from './place.ts'

const REPLICAS = 2

/**
 * The configuration of the documentation page: a master without a connected replica refuses writes, so it grants no
 * locks.
 */
const CONFIG = {
  'min-replicas-to-write': 1,
  'min-replicas-max-lag': 10,
  'repl-diskless-sync': 'yes',
  'repl-diskless-sync-delay': 0,
  'repl-ping-replica-period': 1,
}

/** On a machine that stalls, the replicas may confirm a grant too late for a shorter lease. */
const SHORTEST_MS = 1_000

/**
 * Starts a master and its replicas. Clients do not connect to the replicas, but wait until all replicas have each lock.
 */
export async function startReplicasPlace(): Promise<Place> {
  const [master, ...replicas] = (await Promise.all(
    Array.from({ length: 1 + REPLICAS }, () => startRedis({ config: CONFIG })),
  )) as [RedisServer, ...RedisServer[]]
  await Promise.all(replicas.map(({ admin }) => admin.replicaof(master.host, master.port)))
  const server = new MasterWithReplicas(master)
  await server.followed()
  return {
    server,
    options: ({ leaseMs = 30_000 }) =>
      leaseMs < SHORTEST_MS
        ? {}
        : { durability: { replicas: 'all', timeoutMs: Math.min(5_000, leaseMs - 1) } },
    way: () => ({ redis: master.url }),
  }
}

/** A master. `restart` and `revive` wait until its replicas follow it again. */
export class MasterWithReplicas implements PlaceServer {
  readonly #master: RedisServer

  constructor(master: RedisServer) {
    this.#master = master
  }

  get admin(): RedisServer['admin'] {
    return this.#master.admin
  }

  flush(): Promise<void> {
    return this.#master.flush()
  }

  kill(): Promise<void> {
    return this.#master.kill()
  }

  async restart(): Promise<void> {
    await this.#master.restart()
    await this.followed()
  }

  async revive(): Promise<void> {
    if (this.#master.running && !this.#master.paused) return
    await this.#master.revive()
    await this.followed()
  }

  async followed(): Promise<void> {
    const online = async () => {
      const info = await this.#master.admin.info('replication')
      return info.match(/state=online/g)?.length === REPLICAS
    }
    await eventually(online, { message: 'the replicas to follow the master' })
  }
}
