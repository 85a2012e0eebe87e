// Compares the cost of a lock and its release on the masters of a cluster with the cost on one server. The cost is CPU
// time of the servers, because a machine with few cores cannot load three masters. Both take turns.
// Run `npm run build`, then `node bench/probes/lock/cluster.mjs [rounds] [pairs]`.
import { Cluster } from 'ioredis'
import { Holdfast } from '../../../dist/esm/src/index.js'
import { RedisCluster } from '../../../programs/chaos/servers/cluster.mjs'
import { Server } from '../../../programs/chaos/servers/server.mjs'
import { aboutTheMachine, quantile, table } from '../../support/support.mjs'

const rounds = Number(process.argv[2] ?? 10)
const pairs = Number(process.argv[3] ?? 20_000)
const IN_FLIGHT = 64

console.log(aboutTheMachine())
const { servers: masters } = await RedisCluster.start({ hasReplicas: false })
const single = await Server.start({})
const nodes = masters.map(({ port }) => ({ host: '127.0.0.1', port }))
const ways = [
  { label: 'one server', servers: [single], redis: `redis://127.0.0.1:${single.port}` },
  {
    label: 'a cluster of three masters',
    servers: masters,
    redis: new Cluster(nodes, { lazyConnect: true }),
  },
].map((way) => ({ ...way, client: new Holdfast({ redis: way.redis }), costs: [], shares: [] }))

for (const way of ways) await acquireAll(way, pairs / 4)
for (let round = 0; round < rounds; round++) {
  for (const way of ways) {
    const before = await Promise.all(way.servers.map(cpuOf))
    await acquireAll(way, pairs)
    const after = await Promise.all(way.servers.map(cpuOf))
    const used = after.map((us, i) => us - before[i])
    way.costs.push(used.reduce((sum, us) => sum + us, 0) / pairs)
    // The busiest master limits the cluster.
    way.shares.push(Math.max(...used) / pairs)
  }
}
const [one, three] = ways.map(({ shares }) => quantile(shares, 0.5))
table(
  ['', 'µs of CPU per pair', 'of them on the busiest master'],
  ways.map(({ label, costs, shares }) => [
    label,
    quantile(costs, 0.5).toFixed(1),
    quantile(shares, 0.5).toFixed(1),
  ]),
)
console.log(
  `At full load, the cluster carries ${(one / three).toFixed(2)} times the locks of one server.`,
)
for (const { client } of ways) await client.close()
process.exit()

/** Acquires and releases locks with different names, many at a time. */
async function acquireAll({ client }, count) {
  let next = 0
  const lane = async () => {
    for (let i = next++; i < count; i = next++) {
      const lease = await client.getLock(`cluster:${i % 3_000}`).lock()
      await lease.release()
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane))
}

/** The CPU time that a server has used since its start, in µs. */
async function cpuOf({ admin }) {
  const info = await admin.info('cpu')
  const [user, system] = ['user', 'sys'].map((kind) =>
    Number(new RegExp(`^used_cpu_${kind}:([\\d.]+)`, 'm').exec(info)[1]),
  )
  return (user + system) * 1e6
}
