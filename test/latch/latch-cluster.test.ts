import { Cluster } from 'ioredis'
import { Holdfast } from '../../src/index.ts'
import { slotOf } from '../../src/servers/redis/calls/cluster-slot.ts'
import { latchKeys, requestKey } from '../../src/servers/redis/calls/keys.ts'
import { eventually } from '../support/eventually.ts'
import { within } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import { type RedisCluster, startCluster } from '../support/redis-cluster.ts'

let cluster: RedisCluster
beforeAll(async () => {
  cluster = await startCluster()
})
afterEach(() => cluster.flush())

function newClient(options: { shardedPubSub?: boolean; keyPrefix?: string }): Holdfast {
  const nodes = new Cluster(cluster.startNodes, { lazyConnect: true })
  const client = new Holdfast({ redis: nodes, ...options })
  atEnd(() => client.close().finally(() => nodes.disconnect()), { beforeCheck: true })
  return client
}

describe.each([true, false])('with sharded channels: %p', (shardedPubSub) => {
  test.each(['plain', '{ada}:ready', 'a:{ada}'])(
    'a latch named %s opens for a client that awaits it',
    async (name) => {
      const options = { shardedPubSub, keyPrefix: 'app:' }
      const [mine, theirs] = [newClient(options), newClient(options)].map((client) =>
        client.getCountDownLatch(name),
      )
      if (mine === undefined || theirs === undefined) throw new Error('There are two')
      expect(await theirs.trySetCount(2)).toBe(true)
      const waiting = mine.await()
      const { channel } = latchKeys(`app:${name}`, true)
      await eventually(async () => {
        const what = shardedPubSub ? 'SHARDCHANNELS' : 'CHANNELS'
        const { admin } = await cluster.masterOf(channel)
        const nodes = shardedPubSub ? [admin] : cluster.masters.map((master) => master.admin)
        const all = await Promise.all(nodes.map((node) => node.call('PUBSUB', what)))
        return (all.flat() as string[]).includes(channel)
      })
      expect(await theirs.countDown()).toBe(1)
      expect(await mine.countDown()).toBe(0)
      expect(await within(2_000, waiting)).toBe(true)
      expect(await theirs.trySetCount(2)).toBe(true)
      expect(await mine.delete()).toBe(true)
    },
  )
})

test('all keys and channels of a latch are in one slot, and one server uses the names of Redisson', () => {
  for (const name of ['plain', 'a:b', '{ada}:ready', 'a:{ada}', 'x{ada}{bob}']) {
    const keys = Object.values(latchKeys(name, true))
    const slots = [...keys, requestKey(name, 'c:1')].map(slotOf)
    expect(new Set(slots).size).toBe(1)
    expect(latchKeys(name, false).channel).toBe(`redisson_countdownlatch__channel__{${name}}`)
  }
  expect(latchKeys('plain', true).channel).toBe('redisson_countdownlatch__channel__{plain}')
})
