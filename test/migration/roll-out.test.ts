import type { Redis } from 'ioredis'
import { MultiSemaphore, Mutex, RedlockMutex, Semaphore } from 'redis-semaphore'
import Redlock from 'redlock'
import type { Holdfast, HoldfastError } from '../../src/index.ts'
import { startMasters } from '../support/masters.ts'
import { sharedServer } from '../support/redis-server.ts'
import { type Exclusively, type Locks, rollOut } from './roll-out.ts'

const server = sharedServer()
afterEach(() => server.flush())

const NAME = 'order:1001'
const LEASE_MS = 10_000
/** The clients retry often, so that the test takes only seconds. */
const OFTEN = { retryCount: -1, retryDelay: 10, retryJitter: 5 }
/** If votes split, clients that retry at the same time would split the votes again and again. */
const APART = { retryCount: -1, retryDelay: 50, retryJitter: 45 }
const PATIENT = { lockTimeout: LEASE_MS, acquireTimeout: 60_000 }
const PERMITS = 3

const lock = (holdfast: Holdfast): Exclusively => {
  return (work) => holdfast.getLock(NAME).using(work)
}

const permit = (permits: number) => (holdfast: Holdfast) => {
  const semaphore = holdfast.getPermitExpirableSemaphore(NAME)
  const isSet = semaphore.setPermits(PERMITS)
  return async (work: () => Promise<void>) => {
    await isSet
    await semaphore.using(work, { permits })
  }
}

/** Converts a mutex of redis-semaphore into `Exclusively`. */
const taken = (newMutex: () => Mutex | RedlockMutex): Exclusively => {
  return async (work) => {
    const mutex = newMutex()
    await mutex.acquire()
    try {
      await work()
    } finally {
      await mutex.release()
    }
  }
}

const one = () => [server.url]
const onOne = (clients: Redis[]) => clients[0] as Redis

const kinds: Record<string, () => Locks | Promise<Locks>> = {
  'using of redlock': () => ({
    urls: one(),
    old: (clients) => {
      const redlock = new Redlock(clients, OFTEN)
      return (work) => redlock.using([NAME], LEASE_MS, work)
    },
    ours: lock,
  }),
  'acquire and release of redlock on three masters': async () => ({
    urls: (await startMasters(3)).map(({ url }) => url),
    callers: 1,
    old: (clients) => {
      const redlock = new Redlock(clients, APART)
      return async (work) => {
        const held = await redlock.acquire([NAME], LEASE_MS)
        try {
          await work()
        } finally {
          await held.release()
        }
      }
    },
    ours: lock,
  }),
  'Mutex of redis-semaphore': () => ({
    urls: one(),
    old: (clients) => taken(() => new Mutex(onOne(clients), NAME, PATIENT)),
    ours: lock,
  }),
  'RedlockMutex of redis-semaphore': async () => ({
    urls: (await startMasters(3)).map(({ url }) => url),
    callers: 1,
    old: (clients) => taken(() => new RedlockMutex(clients, NAME, PATIENT)),
    ours: lock,
  }),
  'Semaphore of redis-semaphore': () => ({
    urls: one(),
    most: PERMITS,
    old: (clients) => taken(() => new Semaphore(onOne(clients), NAME, PERMITS, PATIENT)),
    ours: permit(1),
  }),
  'MultiSemaphore of redis-semaphore': () => ({
    urls: one(),
    old: (clients) => taken(() => new MultiSemaphore(onOne(clients), NAME, PERMITS, 2, PATIENT)),
    ours: permit(2),
  }),
}

describe.each(Object.keys(kinds))('a migration from %s', (kind) => {
  test('a release between that uses both locks causes no error, and no more than the limit work at once', async () => {
    const locks = await (kinds[kind] as () => Locks | Promise<Locks>)()
    const { most, errors, turns } = await rollOut(locks, ['old', 'both', 'new'])
    expect({ errors, most }).toEqual({ errors: [], most: locks.most ?? 1 })
    // The instances of both releases have worked in turns, in both deployments.
    for (const turn of ['old>both', 'both>old', 'both>new', 'new>both']) {
      expect([...turns.keys()]).toContain(turn)
    }
  })
})

test('one name in both libraries leaves one holder, and Holdfast is refused while the old library holds it', async () => {
  const locks = (await kinds['using of redlock']?.()) as Locks
  const { most, errors } = await rollOut(locks, ['old', 'new'], '')
  expect({ most, code: (errors[0] as HoldfastError).code }).toEqual({
    most: 1,
    code: 'HOLDFAST_REFUSED',
  })
})

test('holders of both locks work at the same time if no release between uses both locks', async () => {
  const locks = (await kinds['using of redlock']?.()) as Locks
  const { most } = await rollOut(locks, ['old', 'new'])
  expect(most).toBe(2)
})
