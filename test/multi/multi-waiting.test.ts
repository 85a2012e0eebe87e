import { setTimeout as pause } from 'node:timers/promises'
import {
  Holdfast,
  type HoldfastLock,
  type HoldfastOptions,
  type MultiLock,
} from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { channelOf, queueOf } from '../support/promised-keys.ts'
import { type RedisServer, sharedServer, startRedis } from '../support/redis-server.ts'

/** How long a multi-lock holds one lock while it waits for another, and which other callers succeed meanwhile. */
const server = sharedServer()

function newClient(options: Omit<HoldfastOptions, 'redis'> = {}, on = server): Holdfast {
  const client = new Holdfast({ redis: on.url, ...options })
  atEnd(() => client.close(), { beforeCheck: true })
  return client
}

/** The order in which a multi-lock acquires these locks of one server. */
const [A, B, C] = ['A', 'B', 'C'] as const

const fair = (client: Holdfast, ...names: string[]): MultiLock =>
  client.getMultiLock(...names.map((name) => client.getFairLock(name)))

const isLocked = async (name: string, on = server) => (await on.admin.exists(name)) === 1

const placesOf = (name: string) => server.admin.zrange(queueOf(name), '0', '-1', 'WITHSCORES')

const queued = (name: string, places: number) =>
  eventually(async () => (await placesOf(name)).length === 2 * places, {
    message: `${places} place(s) in the queue for ${name}`,
  })

const waitedFor = (name: string, on = server) =>
  eventually(async () => Number((await on.admin.pubsub('NUMSUB', channelOf(name)))[1]) > 0, {
    message: `somebody to wait for ${name}`,
  })

/**
 * Starts a task for each lock object. Each task acquires the lock, holds it for a while and releases it, until
 * `stop()`.
 */
function cycle(locks: readonly Pick<HoldfastLock | MultiLock, 'using'>[], holdMs: number) {
  const slots = new Set<number>()
  /** `slots` has the quarters of a second in which a task held the lock. */
  const tally = { served: 0, slots, stop: async () => {} }
  const startedAt = performance.now()
  let over = false
  const tasks = locks.map(async (lock) => {
    while (!over) {
      await lock.using(async () => {
        if (!over) await pause(holdMs)
      })
      tally.served += 1
      slots.add(Math.floor((performance.now() - startedAt) / 250))
    }
  })
  tally.stop = async () => {
    over = true
    await Promise.all(tasks)
  }
  return tally
}

const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make)

/** Returns two servers in the order in which multi-locks acquire their locks. */
async function pair(): Promise<[RedisServer, RedisServer]> {
  const idOf = async ({ admin }: RedisServer) =>
    /run_id:(\w+)/.exec(await admin.info('server'))?.[1]
  const both = [server, await startRedis()] as [RedisServer, RedisServer]
  const [one, other] = [await idOf(both[0]), await idOf(both[1])]
  return String(one) < String(other) ? both : [both[1], both[0]]
}

describe('clients that want only one of the locks', () => {
  test('clients of one lock make progress while a MultiLock waits for a lock of another server', async () => {
    const [near, far] = await pair()
    const [mine, theirs] = [newClient({}, near), newClient({}, near)]
    const busy = await newClient({}, far).getLock('b').lock()
    const locking = mine.getMultiLock(mine.getLock('a'), newClient({}, far).getLock('b')).lock()
    await waitedFor('b', far)
    const others = cycle(
      times(2, () => theirs.getLock('a')),
      1,
    )
    await pause(3_000)
    // There are 12 slots. If the multi-lock held the lock for a second at a time, there would be 4. A loaded machine
    // may lose some.
    expect(others.slots.size).toBeGreaterThan(6)
    await busy.release()
    const lease = await locking
    await lease.release()
    await others.stop()
  })

  test('clients of the first lock make progress while a MultiLock waits for the second lock', async () => {
    const [mine, theirs] = [newClient(), newClient()]
    const [first, second] = ['b', 'c'] as const
    const [b, c] = [await theirs.getLock(first).lock(), await theirs.getLock(second).lock()]
    const locking = mine.getMultiLock(mine.getLock(first), mine.getLock(second)).lock()
    await waitedFor(first)
    await b.release()
    await waitedFor(second)
    await eventually(async () => !(await isLocked(first)), { timeoutMs: 700 })
    const others = cycle(
      times(2, () => theirs.getLock(first)),
      1,
    )
    await pause(3_000)
    expect(others.slots.size).toBeGreaterThan(6)
    await c.release()
    const lease = await locking
    await lease.release()
    await others.stop()
  })
})

describe('a place in the queue of a fair lock', () => {
  test('a multi-lock keeps its place while it releases the other locks', async () => {
    const [mine, theirs] = [newClient(), newClient()]
    const busy = await theirs.getFairLock(B).lock()
    const locking = fair(mine, A, B).lock()
    await queued(B, 1)
    const place = await placesOf(B)
    const after = theirs.getFairLock(B).lock()
    await queued(B, 2)
    await eventually(async () => !(await isLocked(A)))
    await pause(1_300)
    expect(await isLocked(A)).toBe(false)
    expect((await placesOf(B)).slice(0, 2)).toEqual(place)
    await busy.release()
    const lease = await locking
    expect(lease.leases.map(({ name }) => name)).toEqual([A, B])
    await lease.release()
    await (await after).release()
  })

  test.each([
    ['the end of the wait time', 1_500, undefined],
    ['an abort', 20_000, () => AbortSignal.timeout(1_500)],
  ])('%s gives up the place and all other locks', async (_, waitMs, signal) => {
    const [mine, theirs] = [newClient(), newClient()]
    const busy = await theirs.getFairLock(B).lock()
    const options = { waitMs, ...(signal && { signal: signal() }) }
    const trying = fair(mine, A, B).tryLock(options)
    trying.catch(() => {})
    await queued(B, 1)
    await eventually(async () => !(await isLocked(A)))
    if (signal === undefined) expect(await trying).toBeNull()
    else await expect(trying).rejects.toMatchObject({ name: 'TimeoutError' })
    await queued(B, 0)
    expect(await isLocked(A)).toBe(false)
    await busy.release()
    expect(await isLocked(B)).toBe(false)
  })

  test('a multi-lock is served by a queue that takes longer than any lock is kept', async () => {
    const [mine, theirs] = [newClient(), newClient()]
    const others = cycle(
      times(6, () => theirs.getFairLock(B)),
      270,
    )
    await queued(B, 5)
    const before = others.served
    const lease = await fair(mine, A, B).tryLock(25_000)
    // One round of all waiters takes 1.6 s. A waiter that queued again each second would never be served.
    expect(lease).not.toBeNull()
    expect(others.served - before).toBeLessThanOrEqual(3 * 6)
    await lease?.release()
    await others.stop()
  })
})

describe('multi-locks that contend', () => {
  test('a multi-lock acquires two fair locks that both have a queue', async () => {
    const [mine, theirs] = [newClient(), newClient()]
    const others = [A, B].map((name) =>
      cycle(
        times(8, () => theirs.getFairLock(name)),
        200,
      ),
    )
    await queued(A, 7)
    await queued(B, 7)
    const lease = await fair(mine, A, B).tryLock(25_000)
    expect(lease).not.toBeNull()
    await lease?.release()
    for (const other of others) await other.stop()
  })

  test('multi-locks with other sets of the same fair locks are all served', async () => {
    const sets = [
      [A, B],
      [B, C],
      [A, C],
    ]
    const tallies = sets.map((names) => {
      const client = newClient()
      return cycle(
        times(14, () => fair(client, ...names)),
        100,
      )
    })
    await eventually(() => tallies.every(({ served }) => served >= 2), {
      message: 'all to be served twice',
      timeoutMs: 25_000,
    })
    await Promise.all(tallies.map((tally) => tally.stop()))
  })

  test('multi-locks and code that locks in the opposite order do not deadlock', async () => {
    const [mine, theirs] = [newClient(), newClient()]
    const nested = async () => {
      const outer = await theirs.getFairLock(B).lock()
      const inner = await theirs.getFairLock(A).lock()
      await inner.release()
      await outer.release()
    }
    const work = async (once: () => Promise<unknown>) => {
      for (let round = 0; round < 20; round++) await once()
    }
    await Promise.all([
      work(nested),
      work(nested),
      work(() => fair(mine, A, B).using(() => {})),
      work(() => fair(mine, B, A).using(() => {})),
    ])
  })

  test('multi-locks that lock in different orders do not deadlock', async () => {
    const servers = [await startRedis(), await startRedis()] as const
    // If a client may not identify the servers, it acquires the locks in the given order.
    for (const { admin } of servers) await admin.call('ACL', 'SETUSER', 'default', '-info')
    const orders = [
      [0, 1],
      [1, 0],
    ] as const
    const works = orders.map(async (order) => {
      const locks = order.map((i) => newClient({}, servers[i]).getFairLock('it'))
      const lock = newClient().getMultiLock(...locks)
      for (let round = 0; round < 20; round++) await lock.using(() => pause(1))
    })
    await Promise.all(works)
  })
})

describe('a multi-lock that holds one lock and waits for another', () => {
  /** Returns a MultiLock of two fair locks that holds the first lock and waits for the second for a long time. */
  async function holdingTheFirst(
    client: Holdfast,
    options: { leaseMs?: number; waitedMs: number },
  ) {
    const theirs = newClient()
    const [a, b] = [theirs.getFairLock(A), theirs.getFairLock(B)]
    const { waitedMs, ...others } = options
    let busy = await b.lock()
    const locking = fair(client, A, B).tryLock({ waitMs: 60_000, ...others })
    await queued(B, 1)
    await eventually(async () => !(await isLocked(A)))
    const first = await a.lock()
    await pause(waitedMs)
    const next = b.lock()
    await queued(B, 2)
    await busy.release()
    busy = await next
    // The multi-lock releases the second lock and waits for the first, which another client holds.
    await queued(A, 1)
    await first.release()
    await queued(B, 1)
    expect(await isLocked(A)).toBe(true)
    return { locking, busy }
  }

  test('the fixed lease of the held lock is prolonged', async () => {
    const { locking, busy } = await holdingTheFirst(newClient(), {
      leaseMs: 1_000,
      // The call holds the first lock for at least three eighths of this time.
      waitedMs: 6_500,
    })
    const owner = await server.admin.hkeys(A)
    const endsAt = performance.now() + 1_300
    while (performance.now() < endsAt) {
      expect(await server.admin.hkeys(A)).toEqual(owner)
      await pause(20)
    }
    await busy.release()
    const lease = await locking
    expect(lease?.leases[0]?.owner).toBe(owner[0])
    expect(lease?.remaining()).toBeGreaterThan(200)
    await lease?.release()
  })

  test('a lock that is lost meanwhile is acquired again', async () => {
    const client = newClient()
    const { locking, busy } = await holdingTheFirst(client, { waitedMs: 2_500 })
    await client.getLock(A).forceUnlock()
    await busy.release()
    const lease = await locking
    expect(lease?.valid).toBe(true)
    for (const { name, owner } of lease?.leases ?? []) {
      expect(await server.admin.hgetall(name)).toEqual({ [owner]: '1' })
    }
    expect(await lease?.release()).toBe(true)
  })

  test('a lock that the owner held before is neither released nor waited for', async () => {
    const [mine, theirs] = [newClient(), newClient()]
    const busy = await theirs.getFairLock(B).lock()
    await mine.getFairLock(A).using(async (outer) => {
      const locking = fair(mine, A, B).lock()
      await queued(B, 1)
      const endsAt = performance.now() + 500
      while (performance.now() < endsAt) {
        expect(await server.admin.hkeys(A)).toEqual([outer.owner])
        await pause(10)
      }
      await busy.release()
      const lease = await locking
      expect(await server.admin.hgetall(A)).toEqual({ [outer.owner]: '2' })
      await lease.release()
      expect(outer.valid).toBe(true)
    })
  })
})
