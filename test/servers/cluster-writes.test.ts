import { Socket } from 'node:net'
import { Holdfast } from '../../src/index.ts'
import { granted, SHA } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import { startSettableCluster } from '../support/settable-cluster.ts'

interface Chunk {
  readonly chunk: unknown
}

/** Names with slots in the lower half and in the upper half. */
const [LOW, HIGH] = ['b', 'a']

test('the requests of one turn to one node of a cluster leave in one system call', async () => {
  const cluster = await startSettableCluster()
  const client = new Holdfast({ redis: cluster.newInstance(), outageMs: 20_000 })
  atEnd(() => client.close(), { beforeCheck: true })
  for (const name of [LOW, HIGH])
    await granted(await client.getLock(name).tryLock(20_000)).release()
  const written = jest.spyOn(Socket.prototype, '_writev' as never) as unknown as jest.SpyInstance<
    void,
    [readonly Chunk[]]
  >
  const isAcquisition = ({ chunk }: Chunk) => String(chunk).includes(SHA.acquire)
  const names = Array.from({ length: 20 }, (_, i) => [`{${LOW}}:${i}`, `{${HIGH}}:${i}`]).flat()
  const all = names.map((name) => client.getLock(name).lock())
  const leases = await Promise.all(all)
  const together = written.mock.calls.map(([chunks]) => chunks.filter(isAcquisition).length)
  // The first request leaves at once, because no other request is in flight.
  expect(together.filter((count) => count > 0).sort()).toEqual([19, 20])
  await Promise.all(leases.map((lease) => lease.release()))
})
