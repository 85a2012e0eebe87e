import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast, type HoldfastOptions } from '../../src/index.ts'
import { eventually, never } from '../support/eventually.ts'
import { granted, outcome, SHA, within } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import { counterOf } from '../support/promised-keys.ts'
import { type SettableNode, startSettableCluster } from '../support/settable-cluster.ts'

/** Names with slots in the lower half and in the upper half. */
const [LOW, HIGH] = ['b', 'a']

let cluster: Awaited<ReturnType<typeof startSettableCluster>>

beforeEach(async () => {
  cluster = await startSettableCluster()
})

function newClient(options: Omit<HoldfastOptions, 'redis'> = {}): Holdfast {
  const redis = cluster.newInstance()
  const client = new Holdfast({ redis, commandTimeoutMs: 1_500, outageMs: 1_500, ...options })
  atEnd(
    async () => {
      for (const { proxy } of [cluster.first, cluster.second]) await proxy.heal()
      await client.close()
    },
    { beforeCheck: true },
  )
  return client
}

const asked = ({ proxy }: SettableNode) => proxy.count(SHA.acquire)

/** Acquires and releases one lock at each node. */
async function bothOnce(client: Holdfast): Promise<void> {
  for (const name of [LOW, HIGH]) {
    // The first connection may take longer than the time limit of a request.
    await eventually(async () => granted(await client.getLock(name).tryLock()).release())
  }
}

test.each([-600_000, -1_500, 1_500, 600_000])(
  'nodes whose clocks are %p ms apart are asked once for each call, except for the first call',
  async (ms) => {
    const { first, second } = cluster
    await second.server.step(ms)
    const client = newClient()
    await bothOnce(client)
    const before = [asked(first), asked(second)]
    for (let i = 0; i < 5; i += 1) await bothOnce(client)
    expect([asked(first), asked(second)]).toEqual(before.map((n) => n + 5))
  },
)

test('many calls at once to nodes whose clocks are apart are all answered', async () => {
  const { first, second } = cluster
  await second.server.step(-600_000)
  const client = newClient({ outageMs: 20_000 })
  const names = Array.from({ length: 40 }, (_, i) => `{${i % 2 ? LOW : HIGH}}:${i}`)
  for (let round = 0; round < 3; round += 1) {
    const leases = await Promise.all(names.map((name) => client.getLock(name).tryLock()))
    await Promise.all(leases.map((lease) => granted(lease).release()))
  }
  for (const { server } of [first, second]) {
    expect((await server.admin.keys('*')).filter((key) => key.startsWith('{'))).toEqual([])
  }
})

test.each([
  ['behind', -1_200],
  ['ahead', 1_200],
])(
  'a request of a caller that gave up acquires no lock at a node whose clock is %s',
  async (...cell) => {
    const { second } = cluster
    const client = newClient({ commandTimeoutMs: 400, outageMs: 400 })
    await second.server.step(cell[1])
    await bothOnce(client)
    const trap = second.proxy.onNextRequest(SHA.acquire, 'cutBefore')
    const trying = outcome(client.getLock(HIGH).tryLock())
    const lost = await within(5_000, trap.seen)
    second.proxy.refuse()
    await within(10_000, trying) // The other node accepts every key.
    await pause(1_100) // until the request may no longer run, because this is the subject
    await second.proxy.replay(lost)
    await never(() => second.server.admin.exists(HIGH).then((exists) => exists === 1), 100)
  },
)

test('a request that is redirected to another node uses the clock of that node', async () => {
  const { first, second } = cluster
  const client = newClient({ commandTimeoutMs: 400, outageMs: 400 })
  await second.server.step(-1_200)
  await bothOnce(client)
  const moved = first.proxy.answer(
    SHA.acquire,
    `-MOVED 3300 ${second.proxy.host}:${second.proxy.port}\r\n`,
  )
  const trap = second.proxy.onNextRequest(SHA.acquire, 'cutBefore')
  const trying = outcome(client.getLock(LOW).tryLock())
  const lost = await within(5_000, trap.seen)
  second.proxy.refuse()
  await within(10_000, trying)
  moved.heal()
  await pause(1_100) // until the request may no longer run, because this is the subject
  await second.proxy.replay(lost)
  await never(() => second.server.admin.exists(LOW).then((exists) => exists === 1), 100)
})

test('a latch is counted down at nodes whose clocks are apart', async () => {
  await cluster.second.server.step(-600_000)
  const client = newClient({ outageMs: 20_000 })
  for (const name of [LOW, HIGH, LOW, HIGH]) {
    const latch = client.getCountDownLatch(name)
    await latch.trySetCount(2)
    await latch.countDown()
    expect(await latch.count()).toBe(1)
    await latch.countDown()
    expect(await latch.await({ waitMs: 5_000 })).toBe(true)
  }
})

test('tokens rise when a lock moves to a node whose clock is behind', async () => {
  const { first, second } = cluster
  await second.server.step(-600_000)
  const client = newClient({ outageMs: 20_000 })
  const tokens: number[] = []
  const acquireTwice = async () => {
    for (let i = 0; i < 2; i += 1) {
      const lease = granted(await client.getLock(LOW).tryLock())
      tokens.push(lease.token)
      await lease.release()
    }
  }
  await acquireTwice()
  expect([asked(first) > 0, asked(second)]).toEqual([true, 0])
  // A slot moves like this: its keys are copied, and the old node names the new node.
  const counter = counterOf(LOW)
  const copy = await first.server.admin.dumpBuffer(counter)
  await second.server.admin.restore(counter, await first.server.admin.pttl(counter), copy)
  first.proxy.answer('EVALSHA', `-MOVED 3300 ${second.proxy.host}:${second.proxy.port}\r\n`)
  await acquireTwice()
  expect(asked(second)).toBeGreaterThan(0)
  expect(tokens).toEqual([...new Set(tokens)].sort((one, other) => one - other))
  expect(tokens).toHaveLength(4)
})
