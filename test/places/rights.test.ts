import { Cluster } from 'ioredis'
import { Holdfast, type HoldfastOptions } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { startCluster } from '../support/redis-cluster.ts'
import { startWatched } from '../support/redis-sentinel.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'

jest.setTimeout(60_000)

function newClient(redis: HoldfastOptions['redis']): Holdfast {
  const client = new Holdfast({ redis, keyPrefix: 'app:', leaseMs: 1_500 })
  atEnd(() => client.close(), { beforeCheck: true })
  return client
}

/** Everything that sends commands which are no scripts. */
async function useAll(redis: HoldfastOptions['redis']): Promise<void> {
  const [one, two] = [newClient(redis), newClient(redis)]
  for (const kind of ['getLock', 'getFairLock'] as const) {
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) {
      const [mine, theirs] = [one[kind](name), two[kind](name)]
      const held = await mine.lock()
      const waiting = [theirs.lock(), mine.lock()]
      await eventually(async () => (await mine.inspect()).waiters > 0)
      await held.release()
      for (const each of waiting) void each.then((lease) => lease.release())
      await Promise.all(waiting)
    }
  }
  const renewed = new Promise((resolve) => one.once('renewed', resolve))
  const lease = await one.getLock('a').lock()
  await renewed
  await lease.release()
  await one.getLock('a').forceUnlock()
  await one.close()
  await two.close()
}

async function commandsOn(servers: readonly RedisServer[]): Promise<string[]> {
  const infos = await Promise.all(servers.map(({ admin }) => admin.info('commandstats')))
  return [...new Set([...infos.join('\n').matchAll(/cmdstat_(\S+?):calls=[1-9]/g)].map(([, name]) => name ?? ''))].sort()
}

test('one', async () => {
  const server = await startRedis()
  await server.admin.config('RESETSTAT')
  await useAll({ host: server.host, port: server.port, db: 2, connectionName: 'mine' })
  console.log('one', (await commandsOn([server])).join(' '))
})
test('sentinel', async () => {
  const watched = await startWatched()
  for (const one of watched.servers) await one.admin.config('RESETSTAT')
  await useAll(watched.options)
  console.log('sentinel', (await commandsOn(watched.servers)).join(' '))
})
test('cluster', async () => {
  const cluster = await startCluster({ masters: 3, replicas: 1 })
  for (const one of cluster.nodes) await one.admin.config('RESETSTAT')
  await useAll(new Cluster(cluster.startNodes, { lazyConnect: true }))
  console.log('cluster', (await commandsOn(cluster.nodes)).join(' '))
})
