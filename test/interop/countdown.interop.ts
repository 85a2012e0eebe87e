import { Cluster } from 'ioredis'
import { type CountDownLatch, Holdfast } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { outcome, within } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import { startCluster } from '../support/redis-cluster.ts'
import { JavaLatch } from './support/java.ts'
import { staysPending } from './support/pending.ts'
import { useStage } from './support/stage.ts'

const stage = useStage()

/**
 * The time in which a message arrives. This is much shorter than the longest interval between checks in Node. Redisson
 * makes no checks.
 */
const SOON_MS = 2_000

const javaLatch = (thread = '', name = stage.name) =>
  new JavaLatch(stage.javaClient, name, stage.threadName(thread))

const nodeLatch = (name = stage.name) => stage.nodeClient().getCountDownLatch(name)

/** Resolves when this number of clients, in both languages together, listens to the channel of the latch. */
async function listeners(count: number, name = stage.name): Promise<void> {
  const channel = `redisson_countdownlatch__channel__{${name}}`
  await eventually(
    async () => {
      const reply = (await stage.server.admin.pubsub('NUMSUB', channel)) as unknown[]
      return Number(reply[1]) === count
    },
    { message: `${count} to listen on ${channel}` },
  )
}

/** Returns the messages on the channel of the latch during the work. */
async function messagesOf(work: () => Promise<unknown>): Promise<string[]> {
  const messages: string[] = []
  const listener = stage.server.admin.duplicate()
  const channel = `redisson_countdownlatch__channel__{${stage.name}}`
  listener.on('message', (_, message) => messages.push(message))
  try {
    await listener.subscribe(channel)
    await work()
    await stage.server.admin.publish(channel, 'end')
    await eventually(() => messages.includes('end'))
  } finally {
    listener.disconnect()
  }
  return messages.slice(0, -1)
}

/** When Redisson opens a latch, it does not delete the key of the round, so this key must expire. */
afterEach(async () => {
  const { admin } = stage.server
  for (const key of await admin.keys('holdfast_round:*')) {
    expect(await admin.pttl(key)).toBeGreaterThan(0)
    await admin.del(key)
  }
})

interface Either {
  trySetCount(count: number): Promise<boolean>
  countDown(): Promise<unknown>
  delete(): Promise<boolean>
}

const sides: [string, () => Either, () => Either][] = [
  ['Java', () => javaLatch('one'), () => nodeLatch()],
  ['Node', () => nodeLatch(), () => javaLatch('one')],
]

const countOf = async () => Number((await stage.server.admin.get(stage.name)) ?? 0)

describe.each(sides)('RCountDownLatch and getCountDownLatch, set by %s', (_, first, second) => {
  test('opens for waiters in both languages, whichever language counts it down last', async () => {
    for (const [set, last] of [
      [first(), second()],
      [first(), first()],
    ] as const) {
      expect(await set.trySetCount(2)).toBe(true)
      expect(await second().trySetCount(5)).toBe(false)
      const ours = nodeLatch().await()
      const theirs = javaLatch('awaits').await()
      await listeners(2)
      await set.countDown()
      expect(await javaLatch().getCount()).toBe(1)
      expect(await nodeLatch().count()).toBe(1)
      await staysPending(ours)
      await staysPending(theirs)
      await last.countDown()
      expect(await within(SOON_MS, Promise.all([ours, theirs]))).toEqual([true, true])
      expect(await javaLatch().getCount()).toBe(0)
      expect(await nodeLatch().count()).toBe(0)
      await listeners(0)
    }
    expect(await stage.server.admin.exists(stage.name)).toBe(0)
  })

  test('waiters in Node continue at once when the other language deletes the count', async () => {
    expect(await first().trySetCount(2)).toBe(true)
    const ours = nodeLatch().await()
    await listeners(1)
    expect(await second().delete()).toBe(true)
    expect(await within(SOON_MS, ours)).toBe(true)
    expect(await first().delete()).toBe(false)
    expect(await countOf()).toBe(0)
  })

  test('publishes the same messages in both languages', async () => {
    const messages = await messagesOf(async () => {
      await first().trySetCount(2)
      await first().trySetCount(2)
      await first().countDown()
      await first().countDown()
      await first().countDown()
      await first().trySetCount(1)
      await first().delete()
      await first().delete()
    })
    expect(messages).toEqual(['1', '0', '1', '1'])
    expect(await stage.server.admin.exists(stage.name)).toBe(0)
  })
})

test('a wait returns false in both languages when its time is up', async () => {
  await nodeLatch().trySetCount(1)
  expect(await javaLatch().await(300)).toBe(false)
  expect(await nodeLatch().await({ waitMs: 300 })).toBe(false)
  await javaLatch().countDown()
})

test('a name with a tag has the same key and channel in both languages', async () => {
  const name = `{tag}:${stage.name}`
  expect(await javaLatch('', name).trySetCount(2)).toBe(true)
  const ours = nodeLatch(name).await()
  const theirs = javaLatch('awaits', name).await()
  await listeners(2, name)
  await javaLatch('', name).countDown()
  expect(await nodeLatch(name).countDown()).toBe(0)
  expect(await within(SOON_MS, Promise.all([ours, theirs]))).toEqual([true, true])
})

test('in a cluster, a latch opens in both languages by sharded channels', async () => {
  const cluster = await startCluster()
  const [first] = cluster.masters
  const java = await stage.java.client({ port: first?.port as number, sharded: 'AUTO' })
  const nodes = new Cluster(cluster.startNodes, { lazyConnect: true })
  const client = new Holdfast({ redis: nodes })
  atEnd(() => client.close().finally(() => nodes.disconnect()), { beforeCheck: true })
  const [ours, theirs]: [CountDownLatch, JavaLatch] = [
    client.getCountDownLatch('it'),
    new JavaLatch(java, 'it', 'cluster'),
  ]
  for (const last of [ours, theirs]) {
    expect(await theirs.trySetCount(2)).toBe(true)
    const waiting = [ours.await(), new JavaLatch(java, 'it', 'awaits').await()]
    const channel = 'redisson_countdownlatch__channel__{it}'
    await eventually(async () => {
      const { admin } = await cluster.masterOf('it')
      const reply = (await admin.call('PUBSUB', 'SHARDNUMSUB', channel)) as unknown[]
      return Number(reply[1]) === 2
    })
    await (last === ours ? theirs : ours).countDown()
    await last.countDown()
    expect(await within(SOON_MS, Promise.all(waiting))).toEqual([true, true])
  }
  // The channel of a name with a hash tag is in another slot than its key, so Redisson cannot use such a latch in a
  // cluster.
  const tagged = new JavaLatch(java, '{tag}:it', 'cluster')
  expect(String((await outcome(tagged.trySetCount(1))).error)).toMatch(/CROSSSLOT|hash slot/)
  await java.shutdown()
})
