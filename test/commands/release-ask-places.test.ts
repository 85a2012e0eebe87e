import { Cluster } from 'ioredis'
import { Holdfast, type HoldfastOptions } from '../../src/index.ts'
import { holdfast } from '../doctor/diagnose.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { letVote, startMasters } from '../support/masters.ts'
import { startCluster } from '../support/redis-cluster.ts'

/** Checks that a holder that listens for requests receives a request with a reason, and releases the lock. */
async function asked(options: HoldfastOptions, args: readonly string[]): Promise<void> {
  const client = new Holdfast({ label: 'worker-A', ...options })
  atEnd(() => client.close(), { beforeCheck: true })
  const reasons: (string | null)[] = []
  const lease = await client.getLock('it').lock()
  client.on('releaseRequested', ({ reason }) => reasons.push(reason))
  await eventually(
    async () => {
      const { code } = await holdfast(['release', 'it', '--ask', '--reason', 'why', ...args])
      return code === 0
    },
    { everyMs: 50, message: 'the holder to hear it' },
  )
  expect(reasons[0]).toBe('why')
  const waiting = holdfast(['release', 'it', '--ask', '--wait-ms', '20000', ...args])
  await eventually(() => reasons.length > 1)
  await lease.release()
  const { code, out } = await waiting
  expect({ code, out }).toEqual({
    code: 0,
    out: expect.stringMatching(/is no longer held by it/),
  })
}

test('release --ask reaches a holder at several masters even while one master is down', async () => {
  const masters = await startMasters(3)
  await Promise.all(masters.map((master) => letVote(master)))
  for (const master of masters) atEnd(() => master.stop(), { beforeCheck: true })
  const urls = masters.map(({ url }) => url)
  await masters[2]?.kill()
  await asked({ masters: urls, longestLeaseMs: 60_000 }, [...urls, '--timeout-ms', '1000'])
})

test('release --ask reaches a holder in a cluster', async () => {
  const cluster = await startCluster({ masters: 3, replicas: 0 })
  const nodes = cluster.startNodes
  const redis = new Cluster([...nodes])
  atEnd(() => redis.disconnect(), { beforeCheck: true })
  const [{ host, port } = { host: '', port: 0 }] = nodes as { host: string; port: number }[]
  await asked({ redis }, ['--cluster', `${host}:${port}`])
})
