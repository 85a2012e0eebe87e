import { setImmediate as turn } from 'node:timers/promises'
import type { Holdfast } from '../../src/index.ts'
import { createMemoryServer } from '../../src/testing.ts'
import { deferred } from '../support/deferred.ts'
import { eventually } from '../support/eventually.ts'

const held = (client: Holdfast) => client.held().held
const waiting = (client: Holdfast) => client.held().waiting

/** The fields that tests compare, with all ages set to 0. */
const plain = <E extends { readonly name: string }>(entries: readonly E[]) =>
  entries
    .map(({ name, ...rest }) => ({ name, ...rest, heldMs: 0, remainingMs: 0, waitedMs: 0 }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))

test('`held()` lists every kind of lock, permits and terms, each with its kind', async () => {
  await using client = createMemoryServer().newClient({ label: 'app-1' })
  const semaphore = client.getPermitExpirableSemaphore('permits')
  await semaphore.trySetPermits(3)
  const plainSemaphore = client.getSemaphore('semaphore')
  await plainSemaphore.trySetPermits(3)
  const over = deferred<void>()
  const led = deferred<string>()
  const leading = client
    .getLeaderElection('election', { label: 'boss' })
    .lead(async ({ owner }) => {
      led.resolve(owner)
      await over.promise
    })
  const working = plainSemaphore.using(() => over.promise, { permits: 2 })
  const multi = client.getMultiLock(client.getLock('multi 1'), client.getFairLock('multi 2'))
  const leases = [
    await client.getLock('lock').lock(),
    await client.getFairLock('fair').lock(),
    await client.getReadWriteLock('read').readLock().lock(),
    await client.getReadWriteLock('upgradable').upgradableLock().lock(),
    await client.getReadWriteLock('write').writeLock().lock(),
    await semaphore.acquire({ permits: 2 }),
  ]
  const both = await multi.lock()
  await plainSemaphore.acquire(1) // This permit belongs to no owner.
  const of = (
    kind: string,
    { name, owner, token }: { name: string; owner: string; token: number },
  ) => ({
    name,
    kind,
    owner,
    token,
    holdCount: 1,
  })
  const owner = await led.promise
  const election = held(client).find(({ name }) => name === 'election')
  expect(election).toMatchObject({ kind: 'election', label: 'boss', owner })
  expect(plain(held(client))).toEqual(
    plain([
      ...leases.slice(0, 5).map((lease) => of(lease.name, lease)),
      { ...of('permits', leases[5] as (typeof leases)[0]), permits: 2 },
      ...both.leases.map((lease, n) => of(n === 0 ? 'lock' : 'fair', lease)),
      {
        ...of('election', { name: 'election', owner, token: election?.token ?? 0 }),
        label: 'boss',
      },
      { name: 'semaphore', kind: 'semaphore', owner: null, token: null, holdCount: 1, permits: 2 },
    ]),
  )
  expect(held(client).find(({ kind }) => kind === 'semaphore')?.remainingMs).toBeNull()
  over.resolve()
  await Promise.all([leading, working, both.release(), ...leases.map((one) => one.release())])
  expect(client.held()).toEqual({ held: [], waiting: [] })
})

test('`held()` lists every kind of waiting call, each with its kind', async () => {
  const server = createMemoryServer()
  await using holder = server.newClient()
  await using client = server.newClient()
  const over = deferred<void>()
  const leads = deferred<string>()
  const leading = holder.getLeaderElection('election').lead(async ({ owner }) => {
    leads.resolve(owner)
    await over.promise
  })
  const leases = [
    await holder.getLock('lock').lock(),
    await holder.getFairLock('fair').lock(),
    await holder.getReadWriteLock('read').writeLock().lock(),
    await holder.getReadWriteLock('write').writeLock().lock(),
  ]
  await holder.getPermitExpirableSemaphore('permits').trySetPermits(1)
  await holder.getPermitExpirableSemaphore('permits').acquire()
  await holder.getCountDownLatch('latch').trySetCount(1)
  const leader = await leads.promise
  const ended = new AbortController()
  const { signal } = ended
  const waits = [
    client.getLock('lock').lock({ signal }),
    client.getFairLock('fair').lock({ signal, waitMs: 60_000 }),
    client.getReadWriteLock('read').readLock().lock({ signal }),
    client.getReadWriteLock('write').writeLock().lock({ signal }),
    client.getPermitExpirableSemaphore('permits').acquire({ permits: 1, signal }),
    client.getSemaphore('semaphore').acquire(2, { signal }),
    client.getCountDownLatch('latch').await({ signal, waitMs: 60_000 }),
    client.getLeaderElection('election', { label: 'next' }).lead(() => {}, { signal }),
  ]
  const settled = Promise.allSettled(waits)
  const entry = (kind: string, more: object) => ({ name: kind, kind, waitMs: null, ...more })
  await eventually(() => {
    const seen = waiting(client).filter(({ holder }) => holder !== null)
    return seen.length === 5
  })
  const owners = Object.fromEntries(leases.map(({ name, owner }) => [name, owner]))
  expect(plain(waiting(client).map(({ owner, ...rest }) => rest))).toEqual(
    plain([
      entry('lock', { holder: owners.lock }),
      entry('fair', { holder: owners.fair, waitMs: 60_000 }),
      entry('read', { holder: owners.read }),
      entry('write', { holder: owners.write }),
      entry('permits', { holder: null, permits: 1 }),
      entry('semaphore', { holder: null, permits: 2 }),
      entry('latch', { holder: null, waitMs: 60_000 }),
      entry('election', { holder: leader, label: 'next' }),
    ]),
  )
  ended.abort()
  await settled
  await turn()
  expect(client.held()).toEqual({ held: [], waiting: [] })
  over.resolve()
  await leading
})

test('`held()` lists the longest holds and waits first', async () => {
  const server = createMemoryServer({ virtualTime: true })
  await using client = server.newClient()
  const first = await client.getLock('a').lock()
  const next = client.getLock('a').lock()
  await server.advance(100)
  await client.getLock('b').lock()
  await server.advance(200)
  const other = client.getLock('b').tryLock(1_000)
  await server.advance(50)
  expect(held(client).map(({ name, heldMs }) => [name, heldMs])).toEqual([
    ['a', 350],
    ['b', 250],
  ])
  expect(waiting(client).map(({ name, waitedMs }) => [name, waitedMs])).toEqual([
    ['a', 350],
    ['b', 50],
  ])
  await first.release()
  await next
  await server.advance(1_000)
  expect(await other).toBeNull()
})

test('the age of a hold after a hand-off inside the client counts from the hand-off', async () => {
  const server = createMemoryServer({ virtualTime: true })
  await using client = server.newClient()
  const lock = client.getLock('it')
  const [first, ...waits] = [await lock.lock(), lock.lock(), lock.lock()]
  await first.release()
  const second = await waits[0]
  await server.advance(3)
  expect(held(client)).toMatchObject([{ token: second?.token, heldMs: 3 }])
  await second?.release()
  const third = await waits[1]
  expect(third?.owner).toBe(second?.owner)
  await server.advance(5)
  expect(held(client)).toMatchObject([{ token: third?.token, heldMs: 5 }])
})

test('the age of a hold counts from its first acquisition, even if only a re-entry renews it', async () => {
  const server = createMemoryServer({ virtualTime: true })
  await using client = server.newClient()
  const lock = client.getLock('it', { owner: client.owner() })
  await lock.lock(60_000)
  await server.advance(10_000)
  const renewed = await lock.lock({ leaseMs: 30_000, renew: true })
  expect(held(client)).toMatchObject([{ heldMs: 10_000, holdCount: 2 }])
  await server.advance(10_000)
  const limited = await lock.lock({ leaseMs: 30_000, renew: true, maxHoldMs: 60_000 })
  expect(held(client)).toMatchObject([{ heldMs: 20_000, holdCount: 3 }])
  const other = client.getLock('it')
  expect(await other.tryLock()).toBeNull()
  expect((await other.why()).ageMs).toBe(20_000)
  const refused = expect(other.lock({ waitMs: 100 })).rejects.toThrow(/ for 20 s, /)
  await server.advance(100)
  await refused
  await limited.release()
  await renewed.release()
})

test('the limit of a renewed re-entry counts from that re-entry, and the age of the hold does not', async () => {
  const server = createMemoryServer({ virtualTime: true })
  await using client = server.newClient()
  const lock = client.getLock('it', { owner: client.owner() })
  await lock.lock(20_000)
  await server.advance(10_000)
  const lease = await lock.lock({ leaseMs: 15_000, renew: true, maxHoldMs: 40_000 })
  await server.advance(37_000)
  expect(held(client)).toMatchObject([{ heldMs: 47_000 }])
  expect(lease.valid).toBe(true)
  await server.advance(3_000)
  expect(lease.valid).toBe(false)
  expect(lease.signal.reason).toMatchObject({
    message: expect.stringContaining('its `maxHoldMs` of 40000 ms is over'),
  })
})

test('`held()` knows the holder of a lock that another call of the same client waits for', async () => {
  await using client = createMemoryServer().newClient()
  const lease = await client.getLock('it').lock()
  const waits = client.getLock('it').lock()
  expect(waiting(client)).toMatchObject([{ name: 'it', holder: lease.owner }])
  await lease.release()
  await (await waits).release()
})

test('`held()` does not list an expired hold, even before a listener receives its loss', async () => {
  await using client = createMemoryServer().newClient()
  const lease = await client.getLock('it').lock(60)
  let isLost = false
  client.on('lost', () => {
    isLost = true
  })
  const endsAt = performance.now() + 80
  while (performance.now() < endsAt); // The event loop is blocked: no timer goes off.
  expect(isLost).toBe(false)
  expect(held(client)).toEqual([])
  await lease.release()
})
