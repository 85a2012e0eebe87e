import { Cluster } from 'ioredis'
import { Holdfast } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { within } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import { PATIENT, type RedisCluster, startCluster } from '../support/redis-cluster.ts'
import { sharedServer } from '../support/redis-server.ts'

const server = sharedServer()
let cluster: RedisCluster
beforeAll(async () => {
  cluster = await startCluster()
})
afterEach(() => cluster.flush())

function newClient(options: { shardedPubSub?: boolean; keyPrefix?: string }): Holdfast {
  const nodes = new Cluster(cluster.startNodes, { lazyConnect: true })
  const client = new Holdfast({ redis: nodes, ...PATIENT, ...options })
  atEnd(() => client.close().finally(() => nodes.disconnect()), { beforeCheck: true })
  return client
}

describe.each([true, false])('with sharded channels: %p', (shardedPubSub) => {
  test.each([
    ['plain', 'redisson_countdownlatch__channel__{app:plain}'],
    ['a:b', 'redisson_countdownlatch__channel__{app:a:b}'],
    ['{ada}:ready', 'redisson_countdownlatch__channel__:app:{ada}:ready'],
    ['a:{ada}', 'redisson_countdownlatch__channel__:app:a:{ada}'],
    ['x{ada}{bob}', 'redisson_countdownlatch__channel__:app:x{ada}{bob}'],
  ])(
    'a latch named %s, with all keys and channels in one slot, opens for a client that awaits it',
    async (name, channel) => {
      const options = { shardedPubSub, keyPrefix: 'app:' }
      const [mine, theirs] = [newClient(options), newClient(options)].map((client) =>
        client.getCountDownLatch(name),
      )
      if (mine === undefined || theirs === undefined) throw new Error('There are two')
      expect(await theirs.trySetCount(2)).toBe(true)
      const waiting = mine.await()
      await eventually(async () => {
        const what = shardedPubSub ? 'SHARDCHANNELS' : 'CHANNELS'
        const { admin } = await cluster.masterOf(channel)
        const nodes = shardedPubSub ? [admin] : cluster.masters.map((master) => master.admin)
        const all = await Promise.all(nodes.map((node) => node.call('PUBSUB', what)))
        return (all.flat() as string[]).includes(channel)
      })
      const names = [...(await cluster.namesOf(`app:${name}`)), channel]
      const slots = await Promise.all(names.map((one) => cluster.slotOf(one)))
      expect(new Set(slots)).toEqual(new Set([await cluster.slotOf(`app:${name}`)]))
      expect(await theirs.countDown()).toBe(1)
      expect(await mine.countDown()).toBe(0)
      expect(await within(2_000, waiting)).toBe(true)
      expect(await theirs.trySetCount(2)).toBe(true)
      expect(await mine.delete()).toBe(true)
    },
  )
})

test('one server uses the channels of Redisson for latches', async () => {
  const client = new Holdfast({ redis: server.url })
  atEnd(() => client.close(), { beforeCheck: true })
  const names = ['plain', 'a:b', '{ada}:ready', 'a:{ada}', 'x{ada}{bob}']
  const latches = names.map((name) => client.getCountDownLatch(name))
  await Promise.all(latches.map((latch) => latch.trySetCount(1)))
  const opened = latches.map((latch) => latch.await())
  await eventually(async () => {
    const channels = (await server.admin.pubsub('CHANNELS')) as string[]
    return names.every((name) => channels.includes(`redisson_countdownlatch__channel__{${name}}`))
  })
  await Promise.all(latches.map((latch) => latch.countDown()))
  expect(await Promise.all(opened)).toEqual(names.map(() => true))
})
