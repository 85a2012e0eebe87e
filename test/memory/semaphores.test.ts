import { setTimeout as pause } from 'node:timers/promises'
import { type Holdfast, type Permit, RedisRefusedError } from '../../src/index.ts'
import { sizeOf } from '../../src/servers/records/plain-data.ts'
import { enterQueue } from '../../src/servers/records/semaphore/permit-queue.ts'
import { POOL } from '../../src/servers/records/semaphore/pool.ts'
import type { MemoryClientOptions } from '../../src/testing.ts'
import { eventually } from '../support/eventually.ts'
import { Diary, outcome, within } from '../support/fault-rig.ts'
import { CountingServer, edit, partOf } from '../support/memory-server.ts'

let server: CountingServer
let clients: Holdfast[]
let aheadMs: number

beforeEach(() => {
  aheadMs = 0
  server = new CountingServer(() => Date.now() + aheadMs)
  clients = []
})
afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()))
  expect(server.connections).toBe(0)
  expect(server.messages.names).toEqual([])
  const { taken, queue } = partOf(server, 'it', POOL)
  expect([taken, queue.places]).toEqual([{}, {}])
})

const newClient = (options?: MemoryClientOptions) => {
  const client = server.newClient(options)
  clients.push(client)
  return client
}

/** Much shorter than the second after which a waiter checks again without a message. */
const AT_ONCE_MS = 700

/** Gives the permits back. */
type GiveBack = () => Promise<unknown>

/** One semaphore of one client, with the same methods for both kinds. */
interface Verbs extends ReturnType<typeof verbsOf> {
  acquire(permits: number, signal?: AbortSignal): Promise<GiveBack>
  tryAcquire(permits: number, waitMs?: number): Promise<GiveBack | null>
}

const kinds: Record<string, (client: Holdfast) => Verbs> = {
  getSemaphore: (client: Holdfast) => {
    const semaphore = client.getSemaphore('it')
    return {
      ...verbsOf(semaphore),
      acquire: async (permits: number, signal?: AbortSignal) => {
        await semaphore.acquire(permits, signal && { signal })
        return () => semaphore.release(permits)
      },
      tryAcquire: async (permits: number, waitMs?: number) => {
        const isTaken = await semaphore.tryAcquire({ permits, ...(waitMs && { waitMs }) })
        return isTaken ? () => semaphore.release(permits) : null
      },
    }
  },
  getPermitExpirableSemaphore: (client: Holdfast) => {
    const semaphore = client.getPermitExpirableSemaphore('it')
    return {
      ...verbsOf(semaphore),
      acquire: async (permits: number, signal?: AbortSignal) => {
        const permit = await semaphore.acquire({ permits, ...(signal && { signal }) })
        return () => permit.release()
      },
      tryAcquire: async (permits: number, waitMs?: number) => {
        const permit = await semaphore.tryAcquire({ permits, ...(waitMs && { waitMs }) })
        return permit && (() => permit.release())
      },
    }
  },
}

type Either = ReturnType<Holdfast['getSemaphore' | 'getPermitExpirableSemaphore']>

function verbsOf(semaphore: Either) {
  return {
    set: (permits: number) => semaphore.trySetPermits(permits),
    add: (permits: number) => semaphore.addPermits(permits),
    drain: () => semaphore.drainPermits(),
    available: () => semaphore.availablePermits(),
    inspect: () => semaphore.inspect(),
    using: <T>(work: () => Promise<T> | T) => semaphore.using(work),
  }
}

/** Waits until this number of clients has a place and listens for its turn. */
const waiting = (count: number) =>
  eventually(() => {
    const { queue } = partOf(server, 'it', POOL)
    return sizeOf(queue.places) === count && server.messages.count('permits it') === count
  })

describe.each(Object.entries(kinds))('%s', (_name, of) => {
  const newOne = (options?: MemoryClientOptions) => of(newClient(options))

  test('all clients share the permits of a semaphore', async () => {
    const [one, other] = [newOne(), newOne()]
    expect(await one.available()).toBe(0)
    expect(await one.set(3)).toBe(true)
    expect(await other.set(5)).toBe(false)
    const releases = [await one.acquire(1), await other.acquire(2)]
    expect(await one.tryAcquire(1)).toBeNull()
    expect(await other.tryAcquire(1, 20)).toBeNull()
    await releases[1]?.()
    expect(await one.available()).toBe(2)
    const third = await one.tryAcquire(2)
    await releases[0]?.()
    await third?.()
    expect(await other.inspect()).toMatchObject({ available: 3, waiting: [] })
  })

  test('waiters are served in the order in which they came, across clients and inside one client', async () => {
    const all = [newOne(), newOne(), newOne()]
    await all[0]?.set(1)
    const release = await all[0]?.acquire(1)
    const order: number[] = []
    const whose = [0, 1, 1, 2, 0, 0, 2, 1]
    const serve = async (at: number, i: number) => {
      const mine = await all[at]?.acquire(1)
      order.push(i)
      await mine?.()
    }
    const served: Promise<void>[] = []
    for (const [i, at] of whose.entries()) {
      served.push(serve(at, i))
      // The clock of the memory is the wall clock, which may be adjusted by some milliseconds.
      await pause(50)
    }
    await waiting(3)
    await release?.()
    await within(5_000, Promise.all(served))
    expect(order).toEqual(whose.map((_, i) => i))
  })

  test('a waiter for many permits is not overtaken by smaller requests or by clients that do not wait', async () => {
    const [many, few] = [newOne(), newOne()]
    await few.set(3)
    const release = await few.acquire(1)
    const acquiring = many.acquire(3)
    await waiting(1)
    expect(await few.tryAcquire(1)).toBeNull()
    expect(await many.tryAcquire(1)).toBeNull()
    const behind = few.acquire(2)
    await waiting(2)
    const { waiting: those } = await few.inspect()
    expect(those.map(({ client, permits }) => [client, permits])).toEqual([
      [clients[0]?.id, 3],
      [clients[1]?.id, 2],
    ])
    await release()
    const all = await within(AT_ONCE_MS, acquiring)
    await all()
    await (await within(AT_ONCE_MS, behind))()
  })

  test('the number of permits can be raised, lowered below the held permits, and drained', async () => {
    const [one, other] = [newOne(), newOne()]
    await one.set(2)
    const releases = [await one.acquire(1), await one.acquire(1)]
    await one.add(-1)
    expect(await one.available()).toBe(-1)
    expect(await one.drain()).toBe(0)
    const acquiring = other.acquire(1)
    await waiting(1)
    await releases[0]?.()
    await pause(30)
    expect(await one.available()).toBe(0)
    await releases[1]?.()
    await (await within(AT_ONCE_MS, acquiring))()
    await one.add(3)
    expect(await one.drain()).toBe(4)
    expect(await one.available()).toBe(0)
    const woken = [other.acquire(1), one.acquire(2)]
    await waiting(2)
    await one.add(3)
    for (const release of await within(AT_ONCE_MS, Promise.all(woken))) await release()
  })

  test('the next waiter is served when the first waiter gives up, and no place stays behind', async () => {
    const [one, other] = [newOne(), newOne()]
    await one.set(2)
    const leaving = new AbortController()
    const release = await one.acquire(1)
    const first = outcome(one.acquire(2, leaving.signal))
    await waiting(1)
    const next = other.acquire(1)
    await waiting(2)
    leaving.abort(new Error('enough'))
    expect((await first).error).toEqual(new Error('enough'))
    await (await within(AT_ONCE_MS, next))()
    await release()
    await waiting(0)
    expect(await one.available()).toBe(2)
  })

  test('a permit that is granted to a waiter that gives up at that moment is freed again', async () => {
    const [one, other] = [newOne(), newOne()]
    await one.set(1)
    for (let turns = 0; turns < 6; turns++) {
      const leaving = new AbortController()
      const release = await one.acquire(1)
      const got = outcome(other.acquire(1, leaving.signal))
      await waiting(1)
      void release()
      for (let n = 0; n < turns; n++) await new Promise((next) => setImmediate(next))
      leaving.abort()
      const { value } = await got
      await value?.()
      await eventually(async () => (await one.available()) === 1)
    }
  })

  test('a client that closes ends its waits, and the next waiter is served', async () => {
    const [one, closing, other] = [newOne(), newOne(), newOne()]
    await one.set(1)
    const release = await one.acquire(1)
    const first = [outcome(closing.acquire(1)), outcome(closing.acquire(1))]
    await waiting(1)
    const next = other.acquire(1)
    await waiting(2)
    await clients[1]?.close()
    for (const { error } of await Promise.all(first)) {
      expect(error).toMatchObject({ code: 'HOLDFAST_CLOSED', lockName: 'it' })
    }
    await release()
    await (await within(AT_ONCE_MS, next))()
  })

  test('a dead waiter blocks the next waiter only until its place expires', async () => {
    const [one, next] = [newOne(), newOne()]
    await one.set(1)
    const release = await one.acquire(1)
    // A client without heartbeats has this place.
    const dead = { client: 'dead', sinceUs: 0, permits: 1 }
    edit(server, 'it', (record) => enterQueue(record.part(POOL).queue, dead, server.now))
    const acquiring = next.acquire(1)
    await eventually(() => sizeOf(partOf(server, 'it', POOL).queue.places) === 2)
    await release()
    expect(await one.tryAcquire(1)).toBeNull()
    aheadMs += 3_001
    await (await within(1_500, acquiring))()
  })

  test('a semaphore cannot use the name of a lock, and a lock cannot use the name of a semaphore', async () => {
    const [one, client] = [newOne(), newClient()]
    const lease = await client.getLock('it').lock()
    const calls: Promise<unknown>[] = [one.set(1), one.acquire(1), one.available()]
    for (const { error } of await Promise.all(calls.map((call) => outcome(call)))) {
      expect(error).toBeInstanceOf(RedisRefusedError)
      expect(error).toHaveProperty(
        'message',
        expect.stringContaining('a lock has this name (WRONGTYPE)'),
      )
    }
    await lease.release()
    await one.set(1)
    const readWrite = client.getReadWriteLock('it')
    const attempts: Promise<unknown>[] = [
      client.getLock('it').lock(),
      client.getFairLock('it').lock(),
      client.getMultiLock(client.getLock('a'), client.getLock('it')).tryLock(),
      readWrite.readLock().lock(),
      readWrite.writeLock().lock(),
    ]
    for (const { error } of await Promise.all(attempts.map((attempt) => outcome(attempt)))) {
      expect(error).toHaveProperty(
        'message',
        expect.stringMatching(/: a semaphore with(out)? leases has this name \(WRONGTYPE\)/),
      )
    }
  })

  test('`using()` runs work with a permit, and releases the permit even if the work fails', async () => {
    const one = newOne()
    await one.set(1)
    expect(await one.using(async () => one.available())).toBe(0)
    await expect(one.using(() => Promise.reject(new Error('mine')))).rejects.toThrow('mine')
    expect(await one.available()).toBe(1)
  })
})

describe('permits with leases', () => {
  const of = (client: Holdfast) => client.getPermitExpirableSemaphore('it')

  test('permits have ids and tokens, and an inspection shows the rest of their leases', async () => {
    const semaphore = of(newClient())
    expect((await semaphore.inspect()).permits).toBeNull()
    await semaphore.setPermits(3)
    const one = await semaphore.acquire({ leaseMs: 5_000 })
    const two = await semaphore.acquire({ permits: 2, leaseMs: 9_000 })
    expect(two.token).toBeGreaterThan(one.token)
    const { acquired, permits, taken } = await semaphore.inspect()
    expect([permits, taken]).toEqual([3, 3])
    expect(acquired.map(({ id }) => id)).toEqual([...one.ids, ...two.ids])
    expect(acquired.map(({ ttlMs }) => Math.ceil(Number(ttlMs) / 1_000))).toEqual([5, 9, 9])
    expect(await one.release()).toBe(true)
    await two.release()
  })

  test('a waiter acquires the permit of a dead holder when its lease ends', async () => {
    const semaphore = of(newClient())
    await semaphore.setPermits(1)
    const dead = await of(newClient()).acquire({ leaseMs: 150 })
    const permit = await within(900, semaphore.acquire())
    expect(dead.valid).toBe(false)
    expect(await dead.release()).toBe(false)
    expect(await semaphore.availablePermits()).toBe(0)
    await permit.release()
    expect(await semaphore.availablePermits()).toBe(1)
  })

  test('leases end by the clock of the server, and expired permits are freed once', async () => {
    const semaphore = of(newClient())
    await semaphore.setPermits(2)
    const permits = [await semaphore.acquire(), await semaphore.acquire()]
    aheadMs += 3_600_000
    expect((await semaphore.inspect()).available).toBe(2)
    const permit = await semaphore.acquire({ permits: 2 })
    for (const one of permits) expect(await one.release()).toBe(false)
    await permit.release()
    expect(await semaphore.availablePermits()).toBe(2)
  })

  test('permits are renewed while they are held, and their loss is reported', async () => {
    const client = newClient({ leaseMs: 1_200 })
    const diary = new Diary(client)
    const semaphore = of(client)
    await semaphore.setPermits(1)
    const permit = await semaphore.acquire()
    await eventually(() => diary.renewed >= 1)
    expect(permit.valid).toBe(true)
    server.clear()
    await eventually(() => permit.signal.aborted)
    expect(diary.reasons).toEqual(['gone'])
    await permit.release()
  })

  test('a request for more permits than exist is refused, and so is a waiter when the total becomes too small', async () => {
    const [client, other] = [newClient(), newClient()]
    await of(client).setPermits(3)
    const permit: Permit = await of(client).acquire({ permits: 2 })
    expect((await outcome(of(client).acquire({ permits: 4 }))).error).toMatchObject({
      code: 'HOLDFAST_INVALID_ARGUMENT',
      message: expect.stringMatching(/4 permits .* 3 in all \(1 available, 2 taken\)/),
    })
    const many = outcome(of(other).acquire({ permits: 3 }))
    await waiting(1)
    await of(client).addPermits(-1)
    expect((await many).error).toMatchObject({ code: 'HOLDFAST_INVALID_ARGUMENT' })
    await permit.release()
  })
})

describe('permits without leases', () => {
  const of = (client: Holdfast) => client.getSemaphore('it')

  test('a semaphore with an expiry disappears in time, and `releaseIfExists()` then returns false', async () => {
    const semaphore = of(newClient())
    expect(await semaphore.releaseIfExists()).toBe(false)
    await semaphore.trySetPermits(1, { ttlMs: 5_000 })
    expect(await semaphore.releaseIfExists()).toBe(true)
    aheadMs += 5_001
    expect(await semaphore.releaseIfExists()).toBe(false)
    expect(await semaphore.availablePermits()).toBe(0)
    // After this time, the server has also forgotten the results of requests.
    aheadMs += 1_000_000
    expect(server.records.size).toBe(0)
    expect(await semaphore.trySetPermits(2)).toBe(true)
  })

  test('permits stay acquired when their client is closed', async () => {
    const client = newClient()
    await of(client).trySetPermits(2)
    await of(client).acquire()
    await client.close()
    expect(await of(newClient()).availablePermits()).toBe(1)
  })

  test('the server forgets requests that were answered', async () => {
    const client = newClient()
    await of(client).trySetPermits(1)
    for (let n = 0; n < 20; n++) await of(client).using(() => undefined)
    expect(sizeOf(partOf(server, 'it', POOL).results.byId)).toBeLessThanOrEqual(2)
    await client.close()
    expect(sizeOf(partOf(server, 'it', POOL).results.byId)).toBe(0)
    server.clear()
    expect(server.records.size).toBe(0)
  })
})
