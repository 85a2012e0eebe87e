import { setTimeout as pause } from 'node:timers/promises'
import type { Holdfast, HoldfastOptions, Lock } from '../../../src/index.ts'
import { eventually } from '../../support/eventually.ts'
import type { RedisServer } from '../../support/redis-server.ts'

/** The login and the servers of a drive, which uses one kind in every way. */
export interface Use {
  /** All servers on which the kind is used. Most kinds use one server. */
  readonly servers: readonly RedisServer[]
  /** The prefix of the names of locks in Redis. */
  readonly keyPrefix: string
  /** The start of each name of a lock, for example a hash tag. */
  readonly before: string
  newClient(options?: Partial<HoldfastOptions>): Holdfast
}

type Drive = (use: Use) => Promise<void>

const LEASE_MS = 1_200
const SHORT = { leaseMs: LEASE_MS }

async function waitFor(message: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  await eventually(isSo, { message, timeoutMs: 2_500, followsLoad: false })
}

/** Prevents an unhandled rejection of a promise that is awaited later, or never if a right is missing. */
function later<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined)
  return promise
}

/** Uses all methods of a lock from two clients: waits, wake-ups, hand-overs, renewals, a loss, a forced release. */
async function useLock(use: Use, name: string, getLock: (client: Holdfast) => Lock) {
  const [mine, theirs] = [use.newClient(SHORT), use.newClient(SHORT)] as [Holdfast, Holdfast]
  mine.on('releaseRequested', () => undefined)
  const [lock, other] = [getLock(mine), getLock(theirs)]
  const key = `${use.keyPrefix}${name}`

  const freed: unknown[] = []
  const renewed = new Promise((done) => mine.once('renewed', done))
  await mine.run(async () => {
    await lock.lock()
    await lock.lock() // a re-entry
    await lock.unlock()
    const waiting = [other, lock].map((one) => later(one.using(() => undefined)))
    const stop = other.onFree(() => freed.push(1))
    await other.why()
    await waitFor('somebody to wait', async () => (await other.inspect()).waiters > 0)
    await Promise.all([other.isLocked(), lock.isHeld(), lock.holdCount(), lock.remainingMs()])
    await renewed
    await other.requestRelease({ reason: 'a test' })
    await theirs.clientInfo(mine.id)
    await lock.unlock()
    await Promise.all(waiting)
    stop()
  })
  // Several calls of one client cause a hand-over, and several requests at once are sent as a batch.
  const lease = await lock.lock()
  const local = [1, 2].map(() => later(lock.using(() => undefined)))
  const asks = later(other.tryLock())
  await lease.extend(2 * LEASE_MS)
  await lease.release()
  await Promise.all(local)
  await (await asks)?.release()

  await lock.lock({ maxHoldMs: 60_000 })
  await other.forceUnlock()
  const lost = new Promise((done) => mine.once('lost', done))
  const short = await lock.lock()
  for (const { admin } of use.servers) await admin.del(key)
  await lost
  await short.release().catch(() => undefined)
}

/** Makes three clients of this login, and the same object for each client. */
function three<T>(use: Use, make: (client: Holdfast) => T) {
  const clients = [use.newClient(SHORT), use.newClient(SHORT), use.newClient(SHORT)] as const
  const made = [make(clients[0]), make(clients[1]), make(clients[2])] as const
  return { clients, made }
}

const useAll =
  (...all: Drive[]): Drive =>
  async (use) => {
    const failures = (await Promise.allSettled(all.map((one) => one(use)))).flatMap((one) =>
      one.status === 'rejected' ? [one.reason] : [],
    )
    if (failures.length > 0) throw failures[0]
  }

/** The lock goes to the next waiter of another client, and heartbeats keep the queue of a fair lock. */
async function queueUp(use: Use): Promise<void> {
  const name = `${use.before}queue`
  const [first, second, third] = three(use, (client) => client.getFairLock(name)).made
  const held = await first.lock()
  const waits = later(second.lock())
  const givesUp = later(third.lock({ waitMs: 1_200 }).catch(() => null))
  await waitFor('a queue', async () => (await first.inspect()).waiters > 1)
  await second.tryLock()
  await givesUp
  await held.release()
  await (await waits).release()
  await (await first.lock()).release()
}

async function readAndWrite(use: Use): Promise<void> {
  const { clients, made } = three(use, (client) => client.getReadWriteLock(`${use.before}rw`))
  const [mine, writes, reads] = made
  const waiting = (list: 'waitingToRead' | 'waitingToWrite') =>
    waitFor(list, async () => (await mine.inspect())[list].length > 0)
  const held = await mine.writeLock().lock()
  const reading = later(reads.readLock().using(() => undefined))
  await waiting('waitingToRead')
  const writing = later(writes.writeLock().using(() => undefined))
  await waiting('waitingToWrite')
  const more = later(writes.upgradableLock().using(() => undefined))
  await writes.readLock().why()
  await held.release()
  await Promise.all([reading, writing, more])
  await mine.upgradableLock().using(() => mine.writeLock().using(() => undefined))
  await mine.writeLock().using(() => mine.readLock().using(() => undefined))
  await mine.readLock().lock()
  const beside = await Promise.all(Array.from({ length: 12 }, () => reads.readLock().lock()))
  await mine.readLock().lock({ leaseMs: 10_000 })
  const waitsOn = later(
    writes
      .writeLock()
      .lock({ waitMs: 1_000 })
      .catch(() => null),
  )
  await waiting('waitingToWrite')
  for (const one of beside) await one.release()
  await waitsOn
  clients[0].on('releaseRequested', () => undefined)
  await reads.readLock().requestRelease()
  await reads.readLock().forceUnlock()
  await mine.writeLock().forceUnlock()
}

async function leasedPermits(use: Use): Promise<void> {
  const { clients, made } = three(use, (client) =>
    client.getPermitExpirableSemaphore(`${use.before}leased`),
  )
  const [mine, others] = made
  const renewed = new Promise((done) => clients[0].once('renewed', done))
  await mine.trySetPermits(2)
  await mine.setPermits(1)
  const permit = await mine.acquire()
  const waiting = [1, 2].map(() => later(others.using(() => undefined)))
  await waitFor('a waiter', async () => (await mine.inspect()).waiting.length > 0)
  await others.why()
  await renewed
  await permit.release()
  await Promise.all(waiting)
  await mine.tryAcquire({ permits: 1, leaseMs: 10 })
  await waitFor('a lease to end', async () => (await mine.availablePermits()) === 1)
  await others.tryAcquire({ leaseMs: 10 })
  await waitFor('a lease to end', async () => (await mine.availablePermits()) === 1)
  const asked = await mine.acquire({ leaseMs: 5_000 })
  const { owner, ids } = asked
  clients[0].on('releaseRequested', () => undefined)
  await clients[1].getLock(`${use.before}leased`).requestRelease({ owner })
  await others.release(ids as string[])
  // There are more entries than taken permits, so the next acquisition checks some entries.
  await use.servers[0]?.admin.hset(
    `holdfast_permit_holders:{${use.keyPrefix}${use.before}leased}`,
    { a: '1', b: '2', c: '3' },
  )
  await (await mine.acquire()).release()
  await mine.addPermits(1)
  // Two permits become available at once. So the first waiter passes the place of its client on to the next waiter.
  const both = await mine.acquire({ permits: 2 })
  const pair = [1, 2].map(() => later(others.using(() => undefined)))
  await waitFor('a waiter', async () => (await mine.inspect()).waiting.length > 0)
  await both.release()
  await Promise.all(pair)
  await mine.drainPermits()
  await mine.delete()
}

async function plainPermits(use: Use): Promise<void> {
  const { made } = three(use, (client) => client.getSemaphore(`${use.before}plain`))
  const [here, there] = made
  await here.trySetPermits(1, { ttlMs: 60_000 })
  await here.acquire()
  const waiting = [1, 2].map(() => later(there.using(() => undefined)))
  const givesUp = later(there.tryAcquire({ waitMs: 300 }))
  await waitFor('a waiter', async () => (await here.inspect()).waiting.length > 0)
  await there.why()
  await givesUp
  await here.release()
  await Promise.all(waiting)
  await here.addPermits(1)
  // Two permits become available at once. So the first waiter passes the place of its client on to the next waiter.
  await here.acquire({ permits: 2 })
  const pair = [1, 2].map(() => later(there.using(() => undefined)))
  await waitFor('a waiter', async () => (await here.inspect()).waiting.length > 0)
  await here.release(2)
  await Promise.all(pair)
  await here.availablePermits()
  await here.drainPermits()
  await here.releaseIfExists()
  await here.delete()
}

async function countDown(use: Use): Promise<void> {
  const { clients, made } = three(use, (client) => client.getCountDownLatch(`${use.before}latch`))
  const [mine, other] = made
  await mine.trySetCount(3)
  const waiting = later(other.await())
  await waitFor('somebody to wait', async () => (await mine.inspect()).waiters > 0)
  await mine.countDown()
  await mine.count()
  await clients[0].clientInfo(clients[1].id)
  await mine.delete()
  await waiting
  await mine.trySetCount(1)
  const again = later(other.await())
  await mine.countDown()
  await again
}

async function meet(use: Use): Promise<void> {
  const { clients, made } = three(use, (client) => client.getCyclicBarrier(`${use.before}barrier`))
  const [mine, other] = made
  const waiting = later(other.await({ parties: 2 }))
  await waitFor('a party to arrive', async () => (await mine.inspect()).arrived > 0)
  await clients[0].clientInfo(clients[1].id)
  await mine.await({ parties: 2 })
  await waiting
  await mine.await({ parties: 2, waitMs: 50 })
}

async function limit(use: Use): Promise<void> {
  const { clients, made } = three(use, (client) =>
    client.getRateLimiter(`${use.before}rate`, { permits: 2, perMs: 300 }),
  )
  const [mine, other] = made
  await mine.acquire({ cost: 2 })
  await clients[0].clientInfo(clients[1].id)
  const aborts = new AbortController()
  const aborted = other.acquire({ signal: aborts.signal }).catch(() => undefined)
  await waitFor('a call to wait', async () => (await mine.inspect()).waiting > 0)
  aborts.abort()
  await aborted
  await waitFor('the call to leave', async () => (await mine.inspect()).waiting === 0)
  await mine.tryAcquire()
  // The second call deletes the grant of the first call.
  for (let calls = 0; calls < 3; calls++) await mine.acquire({ cost: 2 })
  await mine.reset()
}

async function elect(use: Use): Promise<void> {
  const { clients, made } = three(use, (client) =>
    client.getLeaderElection(`${use.before}election`),
  )
  const [a, b] = made
  const told: boolean[] = []
  b.on('changed', (leader) => told.push(leader !== null))
  await waitFor('the first word', () => told.length >= 1)
  const led = later(
    a.lead(({ signal }) => new Promise((end) => signal.addEventListener('abort', end))),
  )
  await waitFor('a leader', () => told.length >= 2)
  const next = later(b.lead(() => undefined))
  await waitFor('a candidate', async () => (await a.inspect()).candidateCount === 1)
  await a.leader()
  clients[0].on('releaseRequested', () => undefined)
  await clients[1].getFairLock(`${use.before}election`).requestRelease()
  await clients[1].clientInfo(clients[0].id)
  await a.resign()
  await Promise.all([led, next])
}

async function lockSeveral(use: Use): Promise<void> {
  const [mine, theirs] = [use.newClient(SHORT), use.newClient(SHORT)] as [Holdfast, Holdfast]
  const multi = (client: Holdfast) =>
    client.getMultiLock(client.getLock(`${use.before}m1`), client.getLock(`${use.before}m2`))
  const [lock, other] = [multi(mine), multi(theirs)]
  mine.on('releaseRequested', () => undefined)
  const renewed = new Promise((done) => mine.once('renewed', done))
  const lease = await lock.lock()
  const waiting = later(other.using(() => undefined))
  await other.tryLock()
  await other.why()
  await renewed
  await Promise.all([lock.inspect(), lock.isLocked(), lock.isHeld()])
  await other.requestRelease()
  const free = later(other.whenFree())
  await lease.extend(2 * LEASE_MS)
  await lease.release()
  await Promise.all([waiting, free])
}

/** One master loses a lock, and the client restores the lock there. */
async function restore(use: Use): Promise<void> {
  const name = `${use.before}restored`
  const lease = await use.newClient(SHORT).getLock(name).lock()
  const { admin } = use.servers[1] as RedisServer
  await admin.del(use.keyPrefix + name)
  await waitFor(
    'the lock to be restored',
    async () => (await admin.exists(use.keyPrefix + name)) === 1,
  )
  await lease.release()
}

export const DRIVES: Readonly<Record<string, Drive>> = {
  getLock: (use) => useLock(use, `${use.before}a`, (client) => client.getLock(`${use.before}a`)),
  getFairLock: useAll(
    (use) => useLock(use, `${use.before}f`, (client) => client.getFairLock(`${use.before}f`)),
    queueUp,
  ),
  getMultiLock: useAll(
    (use) => useLock(use, `${use.before}a`, (client) => client.getLock(`${use.before}a`)),
    lockSeveral,
  ),
  getReadWriteLock: useAll(readAndWrite),
  getSemaphore: plainPermits,
  getPermitExpirableSemaphore: leasedPermits,
  getCountDownLatch: countDown,
  getCyclicBarrier: meet,
  getRateLimiter: limit,
  getLeaderElection: elect,
  masters: useAll(
    (use) => useLock(use, `${use.before}a`, (client) => client.getLock(`${use.before}a`)),
    restore,
  ),
}

/** Rights that need special actions on the whole server. These run for one login after another. */
export const SPECIAL: Readonly<Record<string, (use: Use, kind: string) => Promise<void>>> = {
  '+eval': async (use, kind) => {
    for (const { admin } of use.servers) await admin.script('FLUSH')
    await DRIVES[kind]?.(use)
  },
  // After a server was silent, the client checks with PING whether the server answers.
  '+ping': async (use) => {
    const client = use.newClient({ commandTimeoutMs: 350, outageMs: 400 })
    await client.clientInfo(client.id)
    for (const server of use.servers) server.pause()
    const asked = later(client.clientInfo(client.id))
    await pause(900)
    for (const server of use.servers) server.resume()
    await Promise.allSettled([asked])
    await pause(200)
  },
  // This command is sent only to a master that is being enrolled.
  '+config|get': async (use) => {
    for (const { admin } of use.servers) await admin.flushall()
    await use
      .newClient()
      .getLock(`${use.before}first`)
      .using(() => undefined)
  },
  // A server with full memory refuses HINCRBY as the first write of a script. So the script first writes the expiry
  // (PERSIST).
  '+persist': async (use) => {
    const name = `${use.before}full`
    const client = use.newClient({ leaseMs: 60_000 })
    const lock = client.getLock(name, { owner: client.owner() })
    const admins = use.servers.map(({ admin }) => admin)
    await lock.lock()
    await lock.lock()
    try {
      for (const admin of admins) {
        await admin.persist(use.keyPrefix + name)
        await admin.config('SET', 'maxmemory', 1)
      }
      await lock.unlock()
    } finally {
      for (const admin of admins) await admin.config('SET', 'maxmemory', 0)
    }
  },
}
