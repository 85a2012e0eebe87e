import { once } from 'node:events'
import type { Holdfast as Client } from '../../src/index.ts'
import { Holdfast } from '../../src/index.ts'
import { startTlsPlace } from '../support/places/tls.ts'
import { type RedisCluster, startCluster } from '../support/redis-cluster.ts'
import { startWatched } from '../support/redis-sentinel.ts'

const opened: Client[] = []
afterEach(async () => {
  for (const client of opened.splice(0)) await client.close()
})

function open(redis: object | string, options: object = {}): Client {
  const client = new Holdfast({ redis, outageMs: 10_000, ...options })
  opened.push(client)
  return client
}

describe('the nodes of a cluster', () => {
  let cluster: RedisCluster
  beforeAll(async () => {
    cluster = await startCluster()
    const user = ['ACL', 'SETUSER', 'app', 'on', '>p@ss', '~*', '&*', '+@all'] as const
    await Promise.all(cluster.nodes.map(({ admin }) => admin.call(...user)))
  })

  const forms: [string, (nodes: { host: string; port: number }[]) => object][] = [
    ['by URLs', (nodes) => ({ cluster: nodes.map(({ host, port }) => `redis://${host}:${port}`) })],
    ['as host:port, one of them', ([one]) => ({ cluster: [`${one?.host}:${one?.port}`] })],
    [
      'by host and port, with a login',
      (nodes) => ({ cluster: nodes, username: 'app', password: 'p@ss' }),
    ],
    [
      'by URLs with a login',
      (nodes) => ({ cluster: nodes.map(({ host, port }) => `redis://app:p%40ss@${host}:${port}`) }),
    ],
  ]

  test.each(forms)('nodes given %s lead to all slots, with a key prefix', async (_, form) => {
    const [here, there] = [1, 2].map(() =>
      open({ ...form(cluster.startNodes), keyPrefix: 'app:' }),
    ) as [Client, Client]
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    for (const name of names) {
      const lease = await here.getLock(name).lock()
      expect(await there.getLock(name).tryLock()).toBeNull()
      const { admin } = await cluster.masterOf(`app:${name}`)
      expect(await admin.exists(`app:${name}`)).toBe(1)
      await lease.release()
    }
    // The client knows that the server is a cluster: it refuses a name without a valid slot.
    expect(() => here.getLock('a}b')).toThrow(/slot/)
  })

  test('a wrong login is reported', async () => {
    const client = open(
      { cluster: cluster.startNodes, username: 'app', password: 'no' },
      // ioredis 5 keeps a timer of a closed socket for twice `commandTimeoutMs`, so this time is short.
      { outageMs: 2_000, commandTimeoutMs: 250 },
    )
    client.on('error', () => undefined)
    await expect(client.getLock('a').lock()).rejects.toThrow(/WRONGPASS/)
  })

  test('the nodes are accepted together with `watchdogThread`', () => {
    const form = { cluster: cluster.startNodes, username: 'app', password: 'p@ss' }
    expect(() => open(form, { watchdogThread: true })).not.toThrow()
  })

  test('one node given as a server is refused, and the error says what to give', async () => {
    const { host, port } = cluster.startNodes[0] as { host: string; port: number }
    const client = open(`redis://${host}:${port}`, { outageMs: 2_000 })
    const refused = ['a', 'b', 'c', 'd'].map((name) => client.getLock(name).lock())
    const errors = (await Promise.allSettled(refused)).flatMap((one) =>
      one.status === 'rejected' ? [one.reason.message] : [],
    )
    expect(errors.length).toBeGreaterThan(0)
    for (const message of errors)
      expect(message).toMatch(/MOVED .*node of a cluster.*\{ cluster: \[/)
  })
})

test('the Sentinels of a master may be given by URL and as host:port', async () => {
  const watched = await startWatched({ replicas: 1 })
  const sentinels = watched.sentinels.map(({ host, port }, i) =>
    i === 0 ? `${host}:${port}` : `redis://${host}:${port}`,
  )
  const lease = await open({ sentinels, name: watched.name }).getLock('it').lock()
  expect(lease.valid).toBe(true)
})

test('a rediss:// URL uses TLS, and a server with an unknown authority is refused', async () => {
  const { port } = await startTlsPlace()
  const client = open(`rediss://127.0.0.1:${port}`, { outageMs: 1_500 })
  const told = once(client as never, 'error')
  await expect(client.getLock('it').lock()).rejects.toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
  expect(String(await told)).toMatch(/certificate/)
})
