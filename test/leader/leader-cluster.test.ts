import { Cluster } from 'ioredis'
import { Holdfast, type HoldfastOptions, type LeaderElection } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { PATIENT, type RedisCluster, startCluster } from '../support/redis-cluster.ts'

/** Elections in a cluster, where messages may be sharded. */
let cluster: RedisCluster
beforeAll(async () => {
  cluster = await startCluster()
})
afterEach(() => cluster.flush())

function newClient(options: Omit<HoldfastOptions, 'redis'>): Holdfast {
  const nodes = new Cluster(cluster.startNodes, { lazyConnect: true })
  const client = new Holdfast({ redis: nodes, ...PATIENT, ...options })
  atEnd(() => client.close().finally(() => nodes.disconnect()), { beforeCheck: true })
  return client
}

test.each([true, false])(
  'listeners receive each change of leader by message, sharded: %s',
  async (shardedPubSub) => {
    // A check without a message would come only after 200 s.
    const options = { shardedPubSub, leaseMs: 600_000 }
    const [a, b, c] = ['a', 'b', 'c'].map((label) =>
      newClient({ ...options, label }).getLeaderElection('it'),
    ) as [LeaderElection, LeaderElection, LeaderElection]
    const told: (string | null)[] = []
    c.on('changed', (leader) => told.push(leader?.label ?? null))
    await eventually(() => told.length === 1)
    const first = a.lead(
      ({ signal }) => new Promise((end) => signal.addEventListener('abort', end)),
    )
    await eventually(() => told.length === 2)
    const second = b.lead(() => 'done')
    await eventually(async () => (await a.inspect()).candidates.length === 1)
    await a.resign()
    expect(await second).toBe('done')
    await first
    await eventually(() => told.at(-1) === null && told.length > 2)
    // b may have led for a shorter time than a check takes.
    expect(told.filter((label) => label !== 'b')).toEqual([null, 'a', null])
  },
)
