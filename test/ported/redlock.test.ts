import type { Holdfast, Lease, MultiLease, Permit } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { Cluster } from '../support/quorum-rig.ts'
import { describeWorlds } from '../support/worlds.ts'
import { twoPlaces } from './ported-kinds.ts'

type Extendable = Pick<Lease | MultiLease | Permit, 'remaining' | 'extend' | 'release' | 'valid'>

const kinds: [string, (client: Holdfast, leaseMs: number) => Promise<Extendable>][] = [
  ['a lock', (client, leaseMs) => client.getLock('it').lock(leaseMs)],
  ['a fair lock', (client, leaseMs) => client.getFairLock('it').lock(leaseMs)],
  ['the lock to read', (client, leaseMs) => client.getReadWriteLock('it').readLock().lock(leaseMs)],
  [
    'the lock to write',
    (client, leaseMs) => client.getReadWriteLock('it').writeLock().lock(leaseMs),
  ],
  [
    'several locks',
    (client, leaseMs) =>
      client.getMultiLock(client.getLock('it'), client.getLock('too')).lock(leaseMs),
  ],
  [
    'a permit',
    (client, leaseMs) =>
      client.getPermitExpirableSemaphore('it', { permits: 1 }).acquire({ leaseMs }),
  ],
]

/** Returns the remaining lease of each holder, as other clients see it. */
async function leftOf(kind: string, client: Holdfast): Promise<(number | null)[]> {
  if (kind === 'a permit') {
    const { holders } = await client.getPermitExpirableSemaphore('it').inspect()
    return holders.map(({ ttlMs }) => ttlMs)
  }
  if (kind.startsWith('the lock')) {
    const { holders } = await client.getReadWriteLock('it').inspect()
    return holders.map(({ ttlMs }) => ttlMs)
  }
  return [(await client.getLock('it').inspect()).ttlMs]
}

const YEARS_10_000_MS = 10_000 * 365 * 24 * 60 * 60 * 1_000

describeWorlds(
  'a lease of thousands of years',
  (world) => {
    // A semaphore stays until it is deleted.
    afterEach(() => world.server.flush())

    test.each(kinds)('is acquired, extended and released: %s', async (kind, acquire) => {
      const client = world.newClient()
      for (const leaseMs of [Math.floor(Number.MAX_SAFE_INTEGER / 10), Number.MAX_SAFE_INTEGER]) {
        const lease = await acquire(client, leaseMs)
        expect(lease.remaining()).toBeGreaterThan(YEARS_10_000_MS)
        await lease.extend(Number.MAX_SAFE_INTEGER)
        expect(lease.remaining()).toBeGreaterThan(YEARS_10_000_MS)
        const [ttlMs] = await leftOf(kind, client)
        expect(ttlMs).toBeGreaterThan(YEARS_10_000_MS)
        expect(await lease.release()).toBe(true)
      }
    })
  },
  twoPlaces,
)

describe('a lock name that is a key of another program', () => {
  test('on one of three masters: the other masters hold the lock, extend it and release it', async () => {
    const cluster = await Cluster.start(3)
    const [a, b, c] = cluster.masters
    await c?.admin.set('it', 'of somebody else')
    const client = cluster.client()
    const lease = await client.getLock('it').lock(5_000)
    const holders = await Promise.all([a, b].map((master) => master?.admin.hkeys('it')))
    expect(holders).toEqual([[lease.owner], [lease.owner]])
    await lease.extend(15_000)
    for (const master of [a, b]) expect(await master?.admin.pttl('it')).toBeGreaterThan(10_000)
    expect(await lease.release()).toBe(true)
    expect(await Promise.all([a, b].map((master) => master?.admin.exists('it')))).toEqual([0, 0])
    expect(await c?.admin.get('it')).toBe('of somebody else')
    await c?.admin.del('it')
  })

  test('on two of three masters: the lock is refused, and the third master keeps nothing', async () => {
    const cluster = await Cluster.start(3)
    const [a, ...others] = cluster.masters
    for (const master of others) await master.admin.set('it', 'of somebody else')
    const client = cluster.client()
    for (const call of [client.getLock('it').lock(5_000), client.getLock('it').tryLock()]) {
      await expect(call).rejects.toMatchObject({
        code: 'HOLDFAST_REFUSED',
        message: expect.stringContaining('WRONGTYPE'),
      })
    }
    await eventually(async () => (await a?.admin.exists('it')) === 0)
    for (const master of others) {
      expect(await master.admin.get('it')).toBe('of somebody else')
      await master.admin.del('it')
    }
  })
})
