import { Cluster } from 'ioredis'
import { Holdfast } from '../../src/index.ts'
import { newDashboard } from '../../tools/dashboard/dashboard.ts'
import { newSetting } from '../commands/setting.ts'
import { holdfast } from '../doctor/diagnose.ts'
import { eventually } from '../support/eventually.ts'
import { within } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import type { Detail } from '../support/printed.ts'
import { PATIENT, startCluster } from '../support/redis-cluster.ts'

const { server, newClient } = newSetting()

async function twoOfThree() {
  const clients = [newClient({ label: 'api-1' }), newClient({ label: 'api-2' })]
  const barriers = clients.map((client) => client.getCyclicBarrier('step'))
  const waiting = barriers.map((barrier) => barrier.await({ parties: 3 }))
  for (const each of waiting) each.catch(() => undefined)
  const [barrier] = barriers
  await eventually(async () => (await barrier?.inspect())?.arrived === 2)
  await eventually(async () => (await clients[0]?.clientInfo(clients[1]?.id ?? '')) !== null)
  return { barrier, waiting }
}

test('list and inspect show how many parties have arrived, and which processes they are', async () => {
  const { barrier, waiting } = await twoOfThree()
  const listed = await holdfast(['list', server.url, '--json'])
  expect(JSON.parse(listed.out)).toMatchObject({
    ...{ name: 'step', kind: 'barrier', state: 'closed', stateText: '2 of 3 arrived' },
    ...{ holders: [], waiting: 2, token: null, count: { taken: 2, toGo: 1 } },
  })
  const { out } = await holdfast(['inspect', 'step', server.url, '--look-ms', '0'])
  expect(out).toMatch(/kind +barrier\n +state +2 of 3 arrived\n/)
  expect(out).toContain('api-1')
  expect(out).toContain('api-2')
  expect(out).toContain('A barrier has no holder. Its parties continue when 1 more have arrived.')
  expect(out).not.toContain('release --force')
  await barrier?.await({ parties: 3 })
  expect(await within(2_000, Promise.all(waiting))).toEqual([true, true])
  expect((await holdfast(['list', server.url])).out).toBe('')
  expect((await holdfast(['inspect', 'step', server.url, '--look-ms', '0'])).code).toBe(1)
})

test('release --force refuses a barrier, and leaves it unchanged', async () => {
  const { barrier } = await twoOfThree()
  const { code, err } = await holdfast(['release', 'step', server.url, '--force', '--yes'])
  expect(code).toBe(2)
  expect(err).toMatch(/^"step" is a cyclic barrier, which has no holder\./)
  expect((await barrier?.inspect())?.arrived).toBe(2)
})

test('the dashboard shows the parties as waiting, and no holder', async () => {
  await twoOfThree()
  const dashboard = newDashboard({ redis: server.url, authorize: () => 'read' })
  atEnd(() => dashboard.close(), { beforeCheck: true })
  const answer = await dashboard.fetch(new Request('http://localhost/api/lock?key=step'))
  const { lock: detail } = (await answer.json()) as { lock: Detail }
  expect(detail).toMatchObject({ stateText: '2 of 3 arrived', hasHolders: false, waiting: 2 })
  expect(detail.queue.map(({ label }) => label).sort()).toEqual(['api-1', 'api-2'])
})

test('another sorted set is no barrier', async () => {
  await server.admin.zadd('step', 1, 'a')
  expect((await holdfast(['inspect', 'step', server.url, '--look-ms', '0'])).code).toBe(1)
  const barrier = newClient().getCyclicBarrier('other')
  expect(await barrier.await({ parties: 1 })).toBe(true)
  await expect(newClient().getLock('step').tryLock()).rejects.toThrow(/a sorted set/)
  await server.admin.del('step')
})

test.each(['plain', '{ada}:step', 'a:{ada}'])(
  'in a cluster, the keys of a barrier named %s are in one slot, and no key of Redisson is used',
  async (name) => {
    const cluster = await startCluster()
    const newOne = () => {
      const nodes = new Cluster(cluster.startNodes, { lazyConnect: true })
      const client = new Holdfast({ redis: nodes, keyPrefix: 'app:', ...PATIENT })
      atEnd(() => client.close().finally(() => nodes.disconnect()), { beforeCheck: true })
      return client.getCyclicBarrier(name)
    }
    const [mine, theirs] = [newOne(), newOne()]
    for (let round = 0; round < 3; round++) {
      const waiting = mine.await({ parties: 2 })
      await eventually(async () => (await theirs.inspect()).arrived === 1)
      expect(await within(4_000, theirs.await({ parties: 2, waitMs: 10_000 }))).toBe(true)
      expect(await within(4_000, waiting)).toBe(true)
    }
    const keys = await Promise.all(cluster.masters.map(({ admin }) => admin.keys('*')))
    expect(keys.flat().filter((key) => key.startsWith('redisson'))).toEqual([])
    expect(keys.flat().some((key) => key.startsWith('holdfast_barrier:'))).toBe(true)
  },
)
