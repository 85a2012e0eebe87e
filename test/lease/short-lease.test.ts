import { Holdfast, type HoldfastOptions } from '../../src/index.ts'
import { createMemoryServer } from '../../src/testing.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { startProxy } from '../support/proxy.ts'
import { sharedServer } from '../support/redis-server.ts'
import { catchWarnings } from '../support/warnings.ts'

const server = sharedServer()
const warnings = catchWarnings(true)

function newClient(options: Omit<HoldfastOptions, 'redis'> = {}, redis = server.url): Holdfast {
  const client = new Holdfast({ redis, ...options })
  atEnd(() => client.close(), { beforeCheck: true })
  return client
}

test('a lease that was meant in seconds causes one warning for each client, with a suggestion', async () => {
  for (const client of [newClient(), newClient()]) {
    const before = warnings.length
    await client.getLock('it').tryLock({ leaseMs: 30 })
    await client.getLock('other').tryLock({ leaseMs: 30 })
    expect(warnings.slice(before)).toEqual([
      {
        code: 'HOLDFAST_SHORT_LEASE',
        message: expect.stringMatching(
          /^Lock "it": a lease of 30 ms is too short\. .* Times are milliseconds: did you mean 30_000\?/,
        ),
        atMs: expect.any(Number),
      },
    ])
    await eventually(async () => !(await client.getLock('other').isLocked()))
  }
})

test('a short lease of a client or of permits causes a warning', async () => {
  const short = newClient({ leaseMs: 60 })
  await (await short.getLock('renewed').lock()).release()
  expect(warnings).toHaveLength(1)
  const permits = newClient().getPermitExpirableSemaphore('permits')
  await permits.trySetPermits(1)
  await (await permits.acquire({ leaseMs: 199 })).release()
  expect(warnings[1]?.message).toMatch(
    /^Semaphore "permits": a lease of 199 ms .* Use at least 200 ms/,
  )
  await server.admin.del('permits')
})

test('a lease of 200 ms or more causes no warning if the server answers quickly', async () => {
  const client = newClient()
  await (await client.getLock('it').lock(200)).release()
  await (await client.getLock('it').lock()).release()
  expect(warnings).toEqual([])
})

test('a lease shorter than ten slow answers causes a warning', async () => {
  const proxy = await startProxy(server.port)
  const client = newClient({}, proxy.url)
  proxy.delay(60)
  for (let i = 0; i < 12; i++) await (await client.getLock('it').lock(400)).release()
  await client.getLock('it').lock(400)
  expect(warnings[0]?.message).toMatch(
    /a lease of 400 ms is too short\. .* takes \d\d+ ms or more: use at least \d{3,4} ms/,
  )
})

test('slow first answers, or many slow answers at once, cause no warning', async () => {
  const proxy = await startProxy(server.port)
  const client = newClient({}, proxy.url)
  const slow = proxy.delay(60)
  const names = Array.from({ length: 40 }, (_, i) => `many:${i}`)
  const leases = await Promise.all(names.map((name) => client.getLock(name).lock(500)))
  await client.getLock('it').lock(500)
  slow.heal()
  await Promise.all(leases.map((lease) => lease.release()))
  for (let i = 0; i < 12; i++) await (await client.getLock('again').lock(500)).release()
  expect(warnings).toEqual([])
})

test('a short lease in memory causes no warning', async () => {
  await using client = createMemoryServer().newClient()
  await (await client.getLock('it').lock(30)).release()
  expect(warnings).toEqual([])
})
