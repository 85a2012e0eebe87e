import { Cluster, Redis } from 'ioredis'
import { Holdfast } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { Diary, granted, outcome } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import { startCluster } from '../support/redis-cluster.ts'
import { startRedis } from '../support/redis-server.ts'

const SOURCES = ['options', 'protocol 2', 'an instance', 'a cluster']

async function sourceOf(kind: string): Promise<object> {
  if (kind === 'a cluster') {
    const cluster = await startCluster()
    const instance = new Cluster(cluster.startNodes, { lazyConnect: true })
    instance.on('error', () => undefined)
    atEnd(() => instance.disconnect(), { beforeCheck: true })
    return instance
  }
  const { host, port } = await startRedis()
  if (kind === 'options') return { host, port }
  if (kind === 'protocol 2') return { host, port, protocol: 2 }
  return new Redis({ host, port, lazyConnect: true })
}

/** The states in which a client is closed. */
const STATES: Record<string, (client: Holdfast) => Promise<unknown>> = {
  'that has done its work': async (client) => client.getLock('it').using(() => undefined),
  'that holds locks': async (client) => {
    await Promise.all(Array.from({ length: 20 }, (_, i) => client.getLock(`it ${i}`).lock()))
  },
  'whose locks are waited for': async (client) => {
    await client.getLock('it').lock()
    void outcome(client.getLock('it').lock())
    await client.getFairLock('fair').lock()
    void outcome(client.getFairLock('fair').lock())
    await eventually(async () => (await client.getFairLock('fair').inspect()).waiters > 0)
  },
  'that asks': async (client) => {
    await granted(await client.getLock('warm').tryLock()).release()
    for (let i = 0; i < 20; i += 1) void outcome(client.getLock(`it ${i}`).lock())
    for (let i = 0; i < 20; i += 1) void outcome(client.getLock(`it ${i}`).isLocked())
  },
  'that has a subscription under way': async (client) => {
    const lease = await client.getLock('it').lock()
    void outcome(client.getLock('it').lock())
    await lease.release()
  },
  'that connects': async (client) => {
    void outcome(client.getLock('it').lock())
  },
}

describe.each(SOURCES)('a client of %s', (kind) => {
  test.each(Object.keys(STATES))('a client %s is closed without an error', async (state) => {
    const source = await sourceOf(kind)
    const client = new Holdfast({ redis: source as Redis })
    const diary = new Diary(client)
    atEnd(() => client.close(), { beforeCheck: true })
    await STATES[state]?.(client)
    await client.close()
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(diary.errors).toEqual([])
  })
})
