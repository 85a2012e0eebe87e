import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Holdfast, InvalidArgumentError, type Lease } from '../../src/index.ts'
import { createMemoryServer, type MemoryServer } from '../../src/testing.ts'
import { within } from '../support/fault-rig.ts'

let server: MemoryServer
let one: Holdfast
let two: Holdfast
/** A client of another server. */
let stranger: Holdfast

const start = (virtualTime: boolean) => {
  server = createMemoryServer({ virtualTime })
  one = server.newClient()
  two = server.newClient({ keyPrefix: 'app:' })
  stranger = createMemoryServer().newClient()
}
beforeEach(() => start(true))
afterEach(() => Promise.all([one, two, stranger].map((client) => client.close())))

const outcome = (pending: Promise<unknown>) =>
  pending.then(
    (value) => ({ value, error: undefined }),
    (error) => ({ value: undefined, error }),
  )

describe.each([true, false])('with virtual time %p: `hold()`', (virtualTime) => {
  beforeEach(() => start(virtualTime))

  test('`hold()` holds the lock as another client until the test releases it', async () => {
    const other = await server.hold('it')
    const lock = one.getLock('it')
    expect([await lock.tryLock(), await lock.isHeld(), await lock.isLocked()]).toEqual([
      null,
      false,
      true,
    ])
    if (virtualTime) await server.advance(300_000)
    const waiting = one.getFairLock('it').lock()
    expect(await other.release()).toBe(true)
    expect((await waiting).token).toBeGreaterThan(other.token)
  })

  test('`hold()` expects the name with the key prefix, and refuses a lock that is held', async () => {
    const other = await server.hold('app:it')
    expect(await two.getLock('it').tryLock()).toBeNull()
    const holding = server.hold('app:it')
    await expect(holding).rejects.toThrow(InvalidArgumentError)
    await expect(holding).rejects.toThrow('hold("app:it"): this lock is already held.')
    await other.release()
  })
})

describe.each([true, false])('with virtual time %p: `lose()`', (virtualTime) => {
  beforeEach(() => start(virtualTime))

  test.each<[string, () => Promise<Lease>]>([
    ['of a lock', () => one.getLock('it').lock()],
    ['of a fixed lease', () => one.getLock('it').lock(60_000)],
    ['of a fair lock', () => one.getFairLock('it').lock()],
    ['to read', () => one.getReadWriteLock('it').readLock().lock()],
    ['to write', () => one.getReadWriteLock('it').writeLock().lock()],
    [
      'of permits',
      async () => {
        const semaphore = one.getPermitExpirableSemaphore('it')
        await semaphore.trySetPermits(2)
        return semaphore.acquire({ permits: 2 })
      },
    ],
    [
      'of one of several locks',
      async () => {
        const { leases } = await one.getMultiLock(one.getLock('a'), one.getLock('it')).lock()
        await leases[0]?.release()
        return leases[1] as Lease
      },
    ],
  ])(
    'a lease %s is lost when `lose()` returns, and the server keeps nothing of it',
    async (_, take) => {
      const lease = await take()
      const lost: string[] = []
      one.on('lost', ({ name, error }) => lost.push(`${name}: ${error.reason}`))
      server.lose(lease)
      expect([lease.valid, lease.signal.aborted]).toEqual([false, true])
      expect(lease.signal.reason).toMatchObject({ code: 'HOLDFAST_LEASE_LOST', reason: 'gone' })
      expect(lost).toEqual(['it: gone'])
      const semaphore = one.getPermitExpirableSemaphore('it')
      if ('permits' in lease) expect(await semaphore.availablePermits()).toBe(2)
      else expect(await one.getLock('it').isLocked()).toBe(false)
      expect(await lease.release()).toBe(false)
      expect(await outcome(take())).toMatchObject({ value: { valid: true } })
    },
  )

  test('a waiter acquires the lock after `lose()`, in the same client or in another client', async () => {
    for (const client of [one, server.newClient()]) {
      for (const form of ['getLock', 'getFairLock'] as const) {
        const lease = await one[form]('it').lock()
        const waiting = client[form]('it').lock()
        for (let turns = 0; turns < 10; turns++) await nextTurn()
        server.lose(lease)
        const next = await waiting
        expect(next.token).toBeGreaterThan(lease.token)
        expect(await next.release()).toBe(true)
      }
    }
  })

  test('work under `using()` ends by its signal, and rejects with the loss', async () => {
    const shipping = one.getLock('it').using(async (lease) => {
      server.lose(lease)
      lease.signal.throwIfAborted()
    })
    expect(await outcome(shipping)).toMatchObject({ error: { code: 'HOLDFAST_LEASE_LOST' } })
  })

  test.each<[string, () => Promise<unknown> | unknown, string]>([
    ['an object that is no lease', () => ({ token: 1 }), 'lose(lease) takes a lease'],
    [
      'a released lease',
      async () => {
        const lease = await one.getLock('it').lock()
        await lease.release()
        return lease
      },
      'is over, because it was released or lost before',
    ],
    [
      'a lost lease',
      async () => {
        const lease = await one.getLock('it').lock()
        server.lose(lease)
        return lease
      },
      'is over, because it was released or lost before',
    ],
    [
      'a lease of another server',
      () => stranger.getLock('it').lock(),
      'the lease of "it" belongs to another server',
    ],
    [
      'a lease of several locks',
      () => one.getMultiLock(one.getLock('it')).lock(),
      'For a MultiLease, pass one of its `leases`',
    ],
    [
      'a lease in an outage',
      async () => {
        const lease = await one.getLock('it').lock()
        server.beginOutage()
        return lease
      },
      'Call endOutage() first',
    ],
  ])('`lose()` refuses %s', async (_, take, message) => {
    const lease = (await take()) as Lease
    expect(() => server.lose(lease)).toThrow(InvalidArgumentError)
    expect(() => server.lose(lease)).toThrow(message)
  })
})

describe('an outage', () => {
  test('an outage is reported after `outageMs`, and never as contention', async () => {
    const client = server.newClient({ outageMs: 3_000 })
    server.beginOutage()
    const results: string[] = []
    const tell = (what: string, pending: Promise<unknown>) =>
      void outcome(pending).then(({ value, error }) =>
        results.push(`${what}: ${error?.code ?? value}`),
      )
    tell('lock', client.getLock('it').lock())
    tell('try', client.getLock('it').tryLock())
    tell('wait', client.getLock('it').tryLock(1_000))
    tell('look', client.getLock('it').isLocked())
    tell('permit', client.getSemaphore('s').tryAcquire())
    await server.advance(900)
    expect(results).toEqual([])
    await server.advance(200)
    expect(results).toEqual(['wait: HOLDFAST_UNAVAILABLE'])
    await server.advance(1_500)
    expect(results).toHaveLength(1)
    await server.advance(500)
    expect(results.slice(1).sort()).toEqual(
      ['lock', 'look', 'permit', 'try'].map((what) => `${what}: HOLDFAST_UNAVAILABLE`),
    )
    server.endOutage()
    expect(await client.getLock('it').tryLock()).not.toBeNull()
    await client.close()
  })

  test('waiters, leases and releases survive a short outage', async () => {
    const lease = await one.getLock('it').lock()
    const late: number[] = []
    one.on('late', ({ remainingMs }) => late.push(remainingMs))
    const third = server.newClient()
    const waiting = outcome(third.getLock('it').lock())
    const free = one.getLock('free').lock()
    server.beginOutage()
    await server.advance(4_000)
    server.endOutage()
    await server.advance(500)
    expect((await free).valid).toBe(true)
    expect(lease.valid).toBe(true)
    // This call has waited the whole time.
    await third.close()
    expect(await waiting).toMatchObject({ error: { code: 'HOLDFAST_CLOSED' } })
    server.beginOutage()
    await server.advance(20_000)
    expect(late.length).toBeGreaterThan(0)
    expect(lease.valid).toBe(true)
    server.endOutage()
    await server.advance(0)
    expect(lease.remaining()).toBeGreaterThan(25_000)
    server.beginOutage()
    const releasing = lease.release()
    await server.advance(1_000)
    server.endOutage()
    await server.advance(1_000)
    expect(await releasing).toBe(true)
  })

  test('a lease ends on time in a longer outage, and another client acquires the lock afterwards', async () => {
    const lease = await one.getLock('it').lock()
    server.beginOutage()
    await server.advance(25_000)
    expect(lease.valid).toBe(true)
    await server.advance(5_000)
    expect(lease.signal.reason).toMatchObject({ code: 'HOLDFAST_LEASE_LOST', reason: 'expired' })
    await server.advance(1_000)
    server.endOutage()
    expect((await server.newClient().getLock('it').tryLock())?.token).toBeGreaterThan(lease.token)
  })

  test('an acquisition or a release whose answer is lost in an outage is done once', async () => {
    const lock = one.getLock('it')
    const acquiring = lock.lock()
    server.beginOutage()
    await server.advance(1_000)
    server.endOutage()
    await server.advance(1_000)
    const lease = await acquiring
    expect(lease.valid).toBe(true)
    const releasing = lease.release()
    server.beginOutage()
    await server.advance(1_000)
    server.endOutage()
    await server.advance(1_000)
    expect(await releasing).toBe(true)
    expect(await server.newClient().getLock('it').tryLock()).not.toBeNull()
  })

  test('an acquisition that was given up in an outage leaves the lock free', async () => {
    const acquiring = outcome(one.getLock('it').tryLock(500))
    server.beginOutage()
    await server.advance(1_000)
    expect(await acquiring).toMatchObject({ error: { code: 'HOLDFAST_UNAVAILABLE' } })
    server.endOutage()
    await server.advance(5_000)
    expect(await server.newClient().getLock('it').tryLock()).not.toBeNull()
  })

  test('clients close during an outage although no virtual time passes', async () => {
    await one.getLock('it').lock()
    const waiting = outcome(two.getLock('app:it').lock())
    server.beginOutage()
    await within(1_500, Promise.all([one.close(), two.close()]))
    expect(await waiting).toMatchObject({ error: { code: 'HOLDFAST_CLOSED' } })
  })
})
