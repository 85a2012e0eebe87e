import { EventEmitter } from 'eventemitter3'
import type { Holdfast, Lease, MultiLease, Permit, Term, UpgradableLease } from '../../src/index.ts'
import { createMemoryServer } from '../../src/testing.ts'

/** Names that other libraries use for the same purpose. These methods throw an error that names the right method. */
const OTHERS_NAMES_OF_LOCKS = ['acquire', 'extend', 'release']
const OTHERS_NAMES_OF_LEASES = ['unlock']

const OF_ALL_LOCKS = ['isHeld', 'isLocked', 'inspect', 'lock', 'name', 'toJSON', 'tryLock']
const OF_LOCKS = [
  ...OF_ALL_LOCKS,
  ...['requestRelease', 'tryUsing', 'unlock', 'using', 'whenFree', 'why'],
  ...OTHERS_NAMES_OF_LOCKS,
]
const OF_ONE_LOCK = [...OF_LOCKS, 'forceUnlock', 'holdCount', 'onFree', 'remainingMs']
const OF_ALL_LEASES = [
  ...[
    'assertValid',
    'extend',
    'name',
    'release',
    'releaseRequested',
    'remaining',
    'signal',
    'toJSON',
    'token',
    'valid',
  ],
  ...OTHERS_NAMES_OF_LEASES,
]
const OF_LEASES = [...OF_ALL_LEASES, 'owner']

/** Returns the names of an object and its prototypes, without names that every object or emitter has. */
function namesOf(value: object): string[] {
  const names = new Set<string>()
  const isShared = (one: object) => one === Object.prototype || one === EventEmitter.prototype
  for (let one = value; one !== null && !isShared(one); one = Object.getPrototypeOf(one)) {
    for (const name of Object.getOwnPropertyNames(one)) names.add(name)
  }
  // An emitter keeps its listeners in fields of its own.
  for (const name of ['constructor', '_events', '_eventsCount']) names.delete(name)
  return [...names].sort()
}

interface Made {
  readonly lease: Lease
  readonly multiLease: MultiLease
  readonly upgradableLease: UpgradableLease
  readonly permit: Permit
  readonly term: Term
}

async function makeAll(client: Holdfast): Promise<Made> {
  const lease = await client.getLock('a').lock()
  const multiLease = await client.getMultiLock(client.getLock('b'), client.getLock('c')).lock()
  const upgradableLease = await client.getReadWriteLock('upgradable').upgradableLock().lock()
  const permits = client.getPermitExpirableSemaphore('permits')
  await permits.trySetPermits(1)
  const permit = await permits.acquire()
  const term = await client.getLeaderElection('jobs').lead((one) => one)
  return { lease, multiLease, upgradableLease, permit, term }
}

test('each object has the documented names, and no others', async () => {
  const server = createMemoryServer()
  await using client = server.newClient()
  const { lease, multiLease, upgradableLease, permit, term } = await makeAll(client)
  const readWrite = client.getReadWriteLock('rw')
  const latch = client.getCountDownLatch('latch')
  const found = {
    lock: namesOf(client.getLock('a')),
    fairLock: namesOf(client.getFairLock('a')),
    readLock: namesOf(readWrite.readLock()),
    upgradableLock: namesOf(readWrite.upgradableLock()),
    writeLock: namesOf(readWrite.writeLock()),
    multiLock: namesOf(client.getMultiLock(client.getLock('a'))),
    readWrite: namesOf(readWrite),
    latch: namesOf(latch),
    barrier: namesOf(client.getCyclicBarrier('barrier')),
    rate: namesOf(client.getRateLimiter('rate', { permits: 1, perMs: 1 })),
    lease: namesOf(lease),
    multiLease: namesOf(multiLease),
    partOfMultiLease: namesOf(multiLease.leases[0] as Lease),
    upgradableLease: namesOf(upgradableLease),
    permit: namesOf(permit),
    term: namesOf(term),
    owner: namesOf(client.owner()),
  }
  expect(found).toEqual({
    lock: OF_ONE_LOCK.sort(),
    fairLock: OF_ONE_LOCK.sort(),
    readLock: OF_ONE_LOCK.sort(),
    upgradableLock: OF_ONE_LOCK.sort(),
    writeLock: OF_ONE_LOCK.sort(),
    multiLock: OF_LOCKS.sort(),
    readWrite: ['inspect', 'name', 'readLock', 'upgradableLock', 'writeLock'],
    latch: ['await', 'count', 'countDown', 'delete', 'inspect', 'name', 'trySetCount'],
    barrier: ['await', 'inspect', 'name'],
    rate: ['acquire', 'inspect', 'name', 'reset', 'tryAcquire'],
    lease: OF_LEASES.sort(),
    multiLease: [...OF_ALL_LEASES, 'leases'].sort(),
    partOfMultiLease: OF_LEASES.sort(),
    upgradableLease: [...OF_LEASES, 'tryUpgrade', 'upgrade'].sort(),
    permit: [...OF_LEASES, 'ids', 'permits'].sort(),
    term: [
      'assertValid',
      'owner',
      'releaseRequested',
      'remaining',
      'signal',
      'token',
      'valid',
    ].sort(),
    owner: ['clientId', 'id'],
  })
})

type Methods = Record<string, (...args: unknown[]) => unknown>

/** Calls a method without its object. */
const detached = (object: object, name: string) => {
  const { [name]: method } = object as Methods
  return () => method?.()
}

test('a method without its object throws an error that shows the right call', async () => {
  const server = createMemoryServer()
  await using client = server.newClient()
  const { lease, multiLease, permit, term } = await makeAll(client)
  const readWrite = client.getReadWriteLock('rw')
  const calls: [object, string, string][] = [
    [client.getLock('a'), 'lock', 'lock.lock()'],
    [client.getFairLock('a'), 'tryLock', 'lock.tryLock()'],
    [readWrite.readLock(), 'unlock', 'lock.unlock()'],
    [client.getMultiLock(client.getLock('a')), 'using', 'lock.using()'],
    [readWrite, 'writeLock', 'readWriteLock.writeLock()'],
    [client.getCountDownLatch('latch'), 'countDown', 'latch.countDown()'],
    [client.getCyclicBarrier('barrier'), 'await', 'barrier.await()'],
    [client.getRateLimiter('rate', { permits: 1, perMs: 1 }), 'acquire', 'rateLimiter.acquire()'],
    [client.getSemaphore('plain'), 'acquire', 'semaphore.acquire()'],
    [client.getPermitExpirableSemaphore('permits'), 'acquire', 'semaphore.acquire()'],
    [client.getLeaderElection('jobs'), 'lead', 'election.lead()'],
    [lease, 'release', 'lease.release()'],
    [multiLease, 'release', 'lease.release()'],
    [permit, 'extend', 'permit.extend()'],
    [term, 'assertValid', 'term.assertValid()'],
    [client, 'getLock', 'holdfast.getLock()'],
    [server, 'newClient', 'server.newClient()'],
  ]
  for (const [object, name, call] of calls) {
    expect(detached(object, name)).toThrow(
      expect.objectContaining({
        code: 'HOLDFAST_INVALID_ARGUMENT',
        message: expect.stringContaining(`${name}() was called without its object`),
      }),
    )
    expect(detached(object, name)).toThrow(`() => ${call}`)
  }
})

test('a method name of another library throws an error with the right method', async () => {
  await using client = createMemoryServer().newClient()
  const lock = client.getLock('a') as unknown as Methods
  const lease = (await client.getLock('b').lock()) as unknown as Methods
  expect(() => lock.acquire?.(1_000)).toThrow('Use lock() or tryLock().')
  expect(() => lock.release?.()).toThrow('Use unlock()')
  expect(() => lock.extend?.(1_000)).toThrow('Use extend() of the lease')
  expect(() => lease.unlock?.()).toThrow('Use release().')
})

describe('a lock of another copy of the package', () => {
  /** Loads the package a second time, as if one file used `import` and another file used `require`. */
  const otherCopy = (): typeof import('../../src/testing.ts') => {
    let other: unknown
    jest.isolateModules(() => {
      other = jest.requireActual('../../src/testing.ts')
    })
    return other as typeof import('../../src/testing.ts')
  }

  test.each(['getMultiLock', 'getRedLock'] as const)(
    '%s refuses the lock, and the error names both copies and what to do',
    async (method) => {
      await using client = createMemoryServer().newClient()
      await using other = otherCopy().createMemoryServer().newClient()
      const others = other.getLock('others')
      expect(() => client[method](others)).toThrow(
        expect.objectContaining({
          code: 'HOLDFAST_INVALID_ARGUMENT',
          message: expect.stringMatching(
            /: the lock "others" was created by another copy of Holdfast: 0\.\d+\.\d+ in \/.*src\. This client is from 0\..* in \/.*Load only one copy/,
          ),
        }),
      )
    },
  )

  test('an owner and a lease of another copy are refused too', async () => {
    const server = createMemoryServer()
    await using client = server.newClient()
    await using other = otherCopy().createMemoryServer().newClient()
    const owner = other.owner()
    expect(() => client.getLock('a', { owner })).toThrow(
      / was created by another copy of Holdfast: /,
    )
    const lease = await other.getLock('a').lock()
    expect(() => server.lose(lease)).toThrow(/ was created by another copy of Holdfast: /)
  })

  test('an object that is not a lock is refused with another error', async () => {
    await using client = createMemoryServer().newClient()
    const wrong = { name: 'a' } as never
    expect(() => client.getMultiLock(wrong)).toThrow('got an object (Object)')
  })
})
