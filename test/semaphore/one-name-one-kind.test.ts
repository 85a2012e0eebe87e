import { Holdfast, type HoldfastError } from '../../src/index.ts'
import { within } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import { sharedServer } from '../support/redis-server.ts'
import { catchWarnings } from '../support/warnings.ts'
import { errorOf, inBothPlaces } from './both-places.ts'

type Use = (client: Holdfast) => Promise<unknown>

/** Makes the number of each kind, and calls the methods of each kind. */
const KINDS: Record<string, { words: string; noun: string; make: Use; uses: Record<string, Use> }> =
  {
    latch: {
      words: 'a latch has this name',
      noun: 'Latch',
      make: (client) => client.getCountDownLatch('it').trySetCount(3),
      uses: {
        trySetCount: (client) => client.getCountDownLatch('it').trySetCount(3),
        countDown: (client) => client.getCountDownLatch('it').countDown(),
        count: (client) => client.getCountDownLatch('it').count(),
        await: (client) => client.getCountDownLatch('it').await({ waitMs: 5_000 }),
        delete: (client) => client.getCountDownLatch('it').delete(),
      },
    },
    'semaphore with leases': {
      words: 'a semaphore with leases has this name',
      noun: 'Semaphore',
      make: (client) => client.getPermitExpirableSemaphore('it').setPermits(3),
      uses: {
        trySetPermits: (client) => client.getPermitExpirableSemaphore('it').trySetPermits(3),
        addPermits: (client) => client.getPermitExpirableSemaphore('it').addPermits(3),
        acquire: (client) => client.getPermitExpirableSemaphore('it').acquire(),
        'acquire with a limit': (client) =>
          client.getPermitExpirableSemaphore('it', { permits: 3 }).acquire(),
        tryAcquire: (client) => client.getPermitExpirableSemaphore('it').tryAcquire(),
        inspect: (client) => client.getPermitExpirableSemaphore('it').inspect(),
        release: (client) => client.getPermitExpirableSemaphore('it').release('0'.repeat(32)),
        delete: (client) => client.getPermitExpirableSemaphore('it').delete(),
      },
    },
    'semaphore without leases': {
      words: 'a semaphore without leases has this name',
      noun: 'Semaphore',
      make: (client) => client.getSemaphore('it').trySetPermits(3),
      uses: {
        trySetPermits: (client) => client.getSemaphore('it').trySetPermits(3),
        addPermits: (client) => client.getSemaphore('it').addPermits(3),
        acquire: (client) => client.getSemaphore('it').acquire(),
        tryAcquire: (client) => client.getSemaphore('it').tryAcquire(),
        release: (client) => client.getSemaphore('it').release(),
        releaseIfExists: (client) => client.getSemaphore('it').releaseIfExists(),
        availablePermits: (client) => client.getSemaphore('it').availablePermits(),
        delete: (client) => client.getSemaphore('it').delete(),
      },
    },
  }

catchWarnings()

const names = Object.keys(KINDS)
const pairs = names.flatMap((own) =>
  names.filter((other) => other !== own).map((other) => [own, other] as const),
)

/** The calls of each kind of lock. */
const LOCKS: Record<string, Use> = {
  lock: (client) => client.getLock('it').tryLock(),
  'fair lock': (client) => client.getFairLock('it').tryLock(),
  'waiting for a fair lock': (client) => client.getFairLock('it').lock({ waitMs: 5_000 }),
  read: (client) => client.getReadWriteLock('it').readLock().tryLock(),
  write: (client) => client.getReadWriteLock('it').writeLock().lock(),
}

inBothPlaces(({ client }) => {
  test.each(pairs)(
    'the name of a %s is refused to a %s at once, and the error names the kind',
    async (own, other) => {
      const { words, make } = KINDS[own] as (typeof KINDS)['latch']
      const { noun, uses } = KINDS[other] as (typeof KINDS)['latch']
      await make(client())
      for (const [name, use] of Object.entries(uses)) {
        // The client does not repeat these calls for the 5 s of an outage.
        const error = (await within(4_000, errorOf(use(client())))) as HoldfastError
        expect({ [name]: error.code }).toEqual({ [name]: 'HOLDFAST_REFUSED' })
        expect(error.message).toMatch(new RegExp(`^${noun} "it": .*: ${words} \\(WRONGTYPE\\)\\. `))
        expect(error.message).toMatch(/ Use another name for one of the two\.$/)
      }
      // The kind that has the name still works.
      await (KINDS[own] as (typeof KINDS)['latch']).make(client())
    },
  )

  test.each(names)(
    'the name of a %s is refused to locks, and the error names the kind',
    async (own) => {
      const { words, make } = KINDS[own] as (typeof KINDS)['latch']
      await make(client())
      for (const [name, use] of Object.entries(LOCKS)) {
        const error = (await errorOf(use(client()))) as HoldfastError
        expect({ [name]: error.message }).toEqual({
          [name]: expect.stringMatching(
            new RegExp(`^Lock "it": not acquired: ${words} \\(WRONGTYPE\\)`),
          ),
        })
      }
    },
  )

  test('the name of a lock is refused to semaphores and latches, and the error names the kind', async () => {
    const [holder, one] = [client(), client()]
    const all = Object.values(KINDS).flatMap(({ uses }) => Object.values(uses))
    await holder.getLock('it').using(async () => {
      for (const use of all) {
        expect((await errorOf(use(one))).message).toMatch(/: a lock has this name \(WRONGTYPE\)/)
      }
    })
    await holder
      .getReadWriteLock('it')
      .readLock()
      .using(async () => {
        for (const use of all) {
          const { message } = await errorOf(use(one))
          expect(message).toMatch(/: a read-write lock has this name \(WRONGTYPE\)/)
        }
      })
  })

  test('a semaphore may use the name of a latch that has opened', async () => {
    const one = client()
    const latch = one.getCountDownLatch('it')
    await latch.trySetCount(1)
    await latch.countDown()
    expect(await one.getPermitExpirableSemaphore('it').trySetPermits(2)).toBe(true)
    await one.getPermitExpirableSemaphore('it').delete()
    expect(await one.getSemaphore('it').trySetPermits(2)).toBe(true)
    await one.getSemaphore('it').delete()
    expect(await latch.trySetCount(1)).toBe(true)
    await latch.delete()
  })
})

describe('in Redis, keys of other programs', () => {
  const server = sharedServer()
  afterEach(() => server.flush())

  function newClient(login: object = {}): Holdfast {
    const client = new Holdfast({ redis: { host: server.host, port: server.port, ...login } })
    atEnd(() => client.close(), { beforeCheck: true })
    return client
  }

  test('a number of Redisson, or of an older version, is accepted by each kind', async () => {
    const client = newClient()
    for (const { uses } of Object.values(KINDS)) {
      await server.admin.set('it', 3)
      await server.admin.del('holdfast_kind:{it}')
      for (const [name, use] of Object.entries(uses)) {
        if (name === 'await' || name === 'delete') continue
        await use(client)
      }
    }
    await client.close()
  })

  test.each<[string, () => Promise<unknown>, string]>([
    ['a number', () => server.admin.set('it', 3), 'a semaphore or latch (a string)'],
    ['a text', () => server.admin.set('it', 'x'), 'a string that Holdfast does not know'],
    ['a list', () => server.admin.lpush('it', 'x'), 'a list that Holdfast does not know'],
    ['a set', () => server.admin.sadd('it', 'x'), 'a set that Holdfast does not know'],
    [
      'a sorted set',
      () => server.admin.zadd('it', 1, 'x'),
      'a sorted set that Holdfast does not know',
    ],
    [
      'a stream',
      () => server.admin.xadd('it', '*', 'a', 'b'),
      'a stream that Holdfast does not know',
    ],
  ])('the error of a lock says which key has its name: %s', async (_, make, words) => {
    await make()
    const client = newClient()
    for (const use of Object.values(LOCKS)) {
      const error = (await errorOf(use(client))) as HoldfastError
      expect(error.code).toBe('HOLDFAST_REFUSED')
      expect(error.message).toContain(`: not acquired: ${words} has this name (WRONGTYPE). `)
      expect(String((error.cause as Error).message)).toContain('WRONGTYPE')
    }
  })

  test.each<[string, () => Promise<unknown>, string]>([
    ['a hash', () => server.admin.hset('it', 'x', 'y'), 'a hash that Holdfast does not know'],
    ['a lock of Java', () => server.admin.hset('it', `${crypto.randomUUID()}:1`, 1), 'a lock'],
    [
      'a sorted set',
      () => server.admin.zadd('it', 1, 'x'),
      'a sorted set that Holdfast does not know',
    ],
  ])(
    'the error of a semaphore or latch says which key has its name: %s',
    async (_, make, words) => {
      await make()
      const client = newClient()
      for (const use of Object.values(KINDS).flatMap(({ uses }) => Object.values(uses))) {
        expect((await errorOf(use(client))).message).toContain(
          `: ${words} has this name (WRONGTYPE)`,
        )
      }
    },
  )

  test('the error of a multi-lock names the lock whose name another key has', async () => {
    await server.admin.set('b', 3)
    const client = newClient()
    const locks = ['a', 'b', 'c'].map((name) => client.getLock(name))
    const { message } = await errorOf(client.getMultiLock(...locks).tryLock())
    expect(message).toContain('a semaphore or latch (a string) has the name "b" (WRONGTYPE)')
  })

  test('the error has the words of Redis if the user may not read the type of a key', async () => {
    const rights = ['~*', '&*', '+@all', '-type']
    await server.admin.acl('SETUSER', 'poor', 'on', '>secret', ...rights)
    atEnd(() => server.admin.acl('DELUSER', 'poor'))
    await server.admin.set('it', 3)
    const client = newClient({ username: 'poor', password: 'secret' })
    const error = (await errorOf(client.getLock('it').tryLock())) as HoldfastError
    expect(error.code).toBe('HOLDFAST_REFUSED')
    expect(error.message).toMatch(
      /Redis answered "WRONGTYPE Operation against .* use another name\.$/,
    )
  })

  test('the error of independent masters says which key has the name', async () => {
    await server.admin.set('it', 3)
    const client = new Holdfast({ masters: [server.url], newDeployment: true })
    atEnd(() => client.close(), { beforeCheck: true })
    const { message } = await errorOf(client.getLock('it').tryLock())
    expect(message).toContain('a semaphore or latch (a string) has this name')
    await newClient().getCountDownLatch('latch').trySetCount(1)
    const other = await errorOf(client.getLock('latch').tryLock())
    expect(other.message).toContain('a latch has this name')
  })
})
