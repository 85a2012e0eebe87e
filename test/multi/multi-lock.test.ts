import { getEventListeners } from 'node:events'
import {
  Holdfast,
  type HoldfastLock,
  type HoldfastOptions,
  InvalidArgumentError,
  LeaseLostError,
  type MultiLease,
  type MultiLock,
  NotHeldError,
  type NotReleasedError,
} from '../../src/index.ts'
import { deferred } from '../support/deferred.ts'
import { eventually, never } from '../support/eventually.ts'
import { within } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import { channelOf } from '../support/promised-keys.ts'
import { type RedisServer, sharedServer, startRedis } from '../support/redis-server.ts'
import * as scripts from '../support/scripts.ts'
import { takes } from '../support/takes.ts'

const server = sharedServer()
let other: RedisServer
beforeAll(async () => {
  other = await startRedis()
})
afterEach(() => other.flush())

function newClient(options: Omit<HoldfastOptions, 'redis'> = {}, on = server): Holdfast {
  const client = new Holdfast({ redis: on.url, ...options })
  atEnd(() => client.close(), { beforeCheck: true })
  return client
}

const multi = (client: Holdfast, ...names: string[]): MultiLock =>
  client.getMultiLock(...names.map((name) => client.getLock(name)))

const lockedOf = async (names: readonly string[], on = server): Promise<string[]> => {
  const held = await Promise.all(names.map((name) => on.admin.exists(name)))
  return names.filter((_, i) => held[i] === 1)
}

const ABC = ['a', 'b', 'c']

/** Waits until a client listens for the release of this lock. */
const waitedFor = (name: string, on = server) =>
  eventually(async () => Number((await on.admin.pubsub('NUMSUB', channelOf(name)))[1]) > 0, {
    message: `somebody to wait for ${name}`,
  })

test('a multi-lock acquires all its locks in one request under one token, and releases them', async () => {
  // The client's report about itself is a script, too.
  const client = newClient({ presence: false })
  const lock = multi(client, ...ABC)
  await (await lock.lock()).release()
  await server.admin.config('RESETSTAT')
  const lease = await lock.lock()
  const stats = await server.admin.info('commandstats')
  expect(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1]).toBe('1')
  expect(await lockedOf(ABC)).toEqual(ABC)
  expect(new Set(lease.leases.map(({ token }) => token)).size).toBe(1)
  expect(lease.token).toBe(lease.leases[0]?.token)
  expect(lease.leases.map(({ name }) => name)).toEqual(ABC)
  expect(lock.name).toBe('a + b + c')
  expect(lease.name).toBe('a + b + c')
  expect(await lease.release()).toBe(true)
  expect(await lockedOf(ABC)).toEqual([])
})

test('`tryLock()` acquires none of the locks while another client holds one of them', async () => {
  const [mine, theirs] = [newClient(), newClient()]
  const taken: string[] = []
  mine.on('acquired', ({ name }) => taken.push(name))
  for (const busy of ABC) {
    const lease = await theirs.getLock(busy).lock()
    expect(await multi(mine, ...ABC).tryLock()).toBeNull()
    expect(await lockedOf(ABC)).toEqual([busy])
    await lease.release()
  }
  expect(taken).toEqual([])
})

test('a multi-lock that waits for a busy lock holds no later lock, and is woken by the release', async () => {
  const [mine, theirs] = [newClient(), newClient()]
  const busy = await theirs.getLock('a').lock()
  const locking = multi(mine, 'c', 'b', 'a').lock()
  await waitedFor('a')
  expect(await lockedOf(ABC)).toEqual(['a'])
  await busy.release()
  const lease = await within(3_000, locking)
  expect(await lockedOf(ABC)).toEqual(ABC)
  await lease.release()
})

test('a multi-lock releases later locks when another client acquires an earlier lock', async () => {
  const [mine, theirs] = [newClient(), newClient()]
  // Clients acquire locks in the order of their cluster slots: b has 3300, and a has 15495.
  const [first, last] = ['b', 'a'] as const
  const later = await theirs.getLock(last).lock()
  const locking = multi(mine, 'a', 'b').lock()
  await waitedFor(last)
  const earlier = await theirs.getLock(first).lock()
  await later.release()
  await waitedFor(first)
  // The release comes soon, and not only after a wait of one second.
  await eventually(async () => (await lockedOf([last])).length === 0, { timeoutMs: 700 })
  await never(async () => (await lockedOf([last])).length > 0, 100)
  await earlier.release()
  await (await locking).release()
})

test('the wait time covers all locks together', async () => {
  const [mine, theirs] = [newClient(), newClient()]
  const leases = [await theirs.getLock('a').lock(), await theirs.getLock('b').lock()]
  const trying = takes({ atLeast: 1_990, atMost: 3_900 }, () =>
    multi(mine, 'a', 'b').tryLock(2_000),
  )
  await waitedFor('b')
  const acquired = new Promise((resolve) => mine.once('acquired', ({ name }) => resolve(name)))
  await leases[1]?.release()
  // The call holds this lock only for a moment while it waits for the other one.
  expect(await acquired).toBe('b')
  await waitedFor('a')
  expect(await trying).toBeNull()
  expect(await lockedOf(['a', 'b'])).toEqual(['a'])
  await leases[0]?.release()
})

test('multi-locks with the same locks in different orders do not deadlock', async () => {
  const clients = [newClient(), newClient(), newClient()]
  const orders = [ABC, ['c', 'b', 'a'], ['b', 'a', 'c']]
  const inside = new Set<string>()
  let last = 0
  const work = async (client: Holdfast, order: string[]) => {
    const lock = multi(client, ...order)
    for (let round = 0; round < 60; round++) {
      const lease = await lock.lock()
      for (const name of order) {
        expect(inside.has(name)).toBe(false)
        inside.add(name)
      }
      expect(lease.token).toBeGreaterThan(last)
      last = lease.token
      await null
      for (const name of order) inside.delete(name)
      await lease.release()
    }
  }
  const works = clients.flatMap((client, i) => [
    work(client, orders[i] as string[]),
    work(client, orders[(i + 1) % 3] as string[]),
  ])
  await Promise.all(works)
})

test('a multi-lock is served among clients that acquire its locks one by one', async () => {
  const [mine, theirs] = [newClient(), newClient()]
  let over = false
  const others = ABC.flatMap((name) =>
    [1, 2].map(async () => {
      while (!over) await theirs.getLock(name).using(() => new Promise((go) => setTimeout(go, 5)))
    }),
  )
  for (let round = 0; round < 5; round++) await multi(mine, ...ABC).using(() => {})
  over = true
  await Promise.all(others)
})

test('a multi-lock re-enters locks of the running code, and its locks are re-entered one by one', async () => {
  const client = newClient()
  await client.getLock('a').using(async () => {
    const lock = multi(client, 'a', 'b')
    await lock.using(async (outer) => {
      expect(await server.admin.hvals('a')).toEqual(['2'])
      await multi(client, 'b', 'c').using(async (inner) => {
        expect(await lockedOf(ABC)).toEqual(ABC)
        expect(inner.leases[0]?.token).toBe(outer.leases[1]?.token)
      })
      await client.getLock('b').using(() => {})
      expect(await lock.isHeld()).toBe(true)
      expect(await lockedOf(ABC)).toEqual(['a', 'b'])
    })
    expect(await lockedOf(ABC)).toEqual(['a'])
    expect(await server.admin.hvals('a')).toEqual(['1'])
  })
})

test('a re-entry is undone when another lock is busy', async () => {
  const [mine, theirs] = [newClient(), newClient()]
  const busy = await theirs.getLock('b').lock()
  await mine.getLock('a').using(async () => {
    expect(await multi(mine, 'a', 'b', 'c').tryLock()).toBeNull()
    expect(await server.admin.hvals('a')).toEqual(['1'])
    expect(await lockedOf(ABC)).toEqual(['a', 'b'])
  })
  await busy.release()
})

test('a lock that is given twice, or inside another MultiLock, is acquired once', async () => {
  const client = newClient()
  const lock = client.getMultiLock(multi(client, 'a', 'b'), client.getLock('a'))
  const lease = await lock.lock()
  expect(lease.leases.map(({ name }) => name)).toEqual(['a', 'b'])
  expect(await server.admin.hvals('a')).toEqual(['1'])
  await lease.release()
})

test('a lock that is given through two clients of one server is acquired once', async () => {
  const [one, two] = [newClient(), newClient()]
  const lease = await one.getMultiLock(one.getLock('a'), two.getLock('a')).lock(5_000)
  expect(lease.leases).toHaveLength(1)
  await lease.release()
  expect(await lockedOf(['a'])).toEqual([])
})

describe('tasks that share a MultiLock', () => {
  const exclude = async (acquire: () => Promise<MultiLease>) => {
    let inside = 0
    const task = async () => {
      const lease = await acquire()
      inside += 1
      expect(inside).toBe(1)
      await new Promise((go) => setTimeout(go, 5))
      inside -= 1
      await lease.release()
    }
    await Promise.all([task(), task(), task()])
  }

  test('tasks exclude each other outside any frame', async () => {
    const lock = multi(newClient(), 'a', 'b')
    await exclude(() => lock.lock())
  })

  test('tasks exclude each other when they ask at once in one frame', async () => {
    const client = newClient()
    const [one, two] = [newClient({}, other), client]
    const locks = [multi(client, 'a', 'b'), client.getMultiLock(one.getLock('a'), two.getLock('b'))]
    for (const lock of locks) await client.run(() => exclude(() => lock.lock()))
  })
})

describe('a multi-lock over several servers', () => {
  const pair = (): [MultiLock, Holdfast, Holdfast] => {
    const [one, two] = [
      newClient({ outageMs: 1_000, commandTimeoutMs: 300 }),
      newClient({ outageMs: 1_000, commandTimeoutMs: 300 }, other),
    ]
    return [one.getMultiLock(one.getLock('a'), two.getLock('b'), one.getLock('c')), one, two]
  }

  test('a multi-lock acquires the locks of all servers, and releases them', async () => {
    const [lock] = pair()
    await lock.using(async (lease) => {
      expect(await lockedOf(ABC)).toEqual(['a', 'c'])
      expect(await lockedOf(ABC, other)).toEqual(['b'])
      expect(lease.token).toBe(Math.max(...lease.leases.map(({ token }) => token)))
    })
    expect([...(await lockedOf(ABC)), ...(await lockedOf(ABC, other))]).toEqual([])
  })

  test('the locks of the other server are released if one lock is busy until the wait time ends', async () => {
    const [lock] = pair()
    const [on, name] = [other, 'b']
    const busy = await newClient({}, on).getLock(name).lock()
    expect(await lock.tryLock()).toBeNull()
    expect(await lockedOf(ABC)).toEqual([])
    expect(await lock.tryLock(200)).toBeNull()
    expect(await lockedOf(ABC)).toEqual([])
    await busy.release()
  })

  test('all locks are released at once, whichever lock is busy', async () => {
    const [lock] = pair()
    for (const [on, name] of [
      [other, 'b'],
      [server, 'a'],
    ] as const) {
      const busy = await newClient({}, on).getLock(name).lock()
      expect(await lock.tryLock()).toBeNull()
      await busy.release()
      expect([...(await lockedOf(ABC)), ...(await lockedOf(ABC, other))]).toEqual([])
    }
  })

  test('an outage of one server is an error, and the locks of the other server are released', async () => {
    const [lock] = pair()
    await (await lock.lock()).release()
    await other.pause()
    try {
      await expect(lock.lock()).rejects.toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
      await eventually(async () => (await lockedOf(ABC)).length === 0)
    } finally {
      await other.resume()
    }
    await eventually(async () => (await lockedOf(ABC, other)).length === 0)
  })

  test('a release continues past a server that does not answer, and `unlock()` reports that server', async () => {
    const [lock] = pair()
    await lock.lock(5_000)
    await other.pause()
    try {
      await expect(lock.unlock()).rejects.toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
      expect(await lockedOf(ABC)).toEqual([])
    } finally {
      await other.resume()
    }
    await eventually(async () => (await lockedOf(ABC, other)).length === 0)
  })
})

describe('other kinds of lock', () => {
  test('a multi-lock waits in the queue of a fair lock', async () => {
    const [mine, theirs] = [newClient(), newClient()]
    const lock = mine.getMultiLock(mine.getLock('a'), mine.getFairLock('b'))
    const busy = await theirs.getFairLock('b').lock()
    const locking = lock.lock()
    await eventually(async () => (await server.admin.zcard('holdfast_queue:{b}')) === 1)
    const after = theirs.getFairLock('b').lock()
    await busy.release()
    const lease = await locking
    expect(await lockedOf(['a', 'b'])).toEqual(['a', 'b'])
    await lease.release()
    await (await after).release()
  })
})

test('the signal aborts and the lease is invalid when the first of its locks is lost', async () => {
  const client = newClient()
  const lease = await multi(client, ...ABC).lock()
  const { signal } = lease
  expect([signal.aborted, lease.valid, lease.remaining() > 0]).toEqual([false, true, true])
  lease.assertValid()
  await client.getLock('b').forceUnlock()
  expect([signal.aborted, lease.valid, lease.remaining()]).toEqual([true, false, 0])
  expect(signal.reason).toBeInstanceOf(LeaseLostError)
  expect(signal.reason.lockName).toBe('b')
  expect(() => lease.assertValid()).toThrow(LeaseLostError)
  expect(await lease.release()).toBe(false)
  expect(await lockedOf(ABC)).toEqual([])
})

test('signals that are first read after the release leave no listener at a longer hold', async () => {
  const client = newClient()
  await client.getLock('a').using(async (outer) => {
    for (let round = 0; round < 3; round++) {
      const lease = await client.run(() => multi(client, 'a', 'b').lock())
      await lease.release()
      expect(lease.signal).toBe(lease.signal)
      expect(lease.releaseRequested).toBe(lease.releaseRequested)
      expect([lease.signal.aborted, lease.releaseRequested.aborted]).toEqual([false, false])
    }
    expect(getEventListeners(outer.signal, 'abort')).toEqual([])
    expect(getEventListeners(outer.releaseRequested, 'abort')).toEqual([])
  })
})

test('a signal that is first read after a loss and the release is aborted', async () => {
  const client = newClient()
  const lease = await multi(client, 'a', 'b').lock()
  await client.getLock('b').forceUnlock()
  expect(await lease.release()).toBe(false)
  expect(lease.signal.aborted).toBe(true)
  expect(lease.signal.reason).toBeInstanceOf(LeaseLostError)
})

test('a signal leaves no listener at a longer hold, and reports the loss while it is held', async () => {
  const client = newClient()
  const whole = client.getLock('a').using(async (outer) => {
    const inner: AbortSignal[] = []
    for (let round = 0; round < 3; round++) {
      await multi(client, 'a', 'b').using(({ signal }) => void inner.push(signal))
    }
    expect(getEventListeners(outer.signal, 'abort')).toEqual([])
    const work = multi(client, 'a', 'b').using(async ({ signal }) => {
      expect(getEventListeners(outer.signal, 'abort')).toHaveLength(1)
      await client.getLock('a').forceUnlock()
      expect(signal.aborted).toBe(true)
    })
    await expect(work).rejects.toThrow(LeaseLostError)
    expect(inner.map(({ aborted }) => aborted)).toEqual([false, false, false])
  })
  await expect(whole).rejects.toThrow(LeaseLostError)
})

test('`unlock()` reports each lost lock, and releases the other locks', async () => {
  const client = newClient()
  const lock = multi(client, ...ABC)
  await lock.lock()
  await client.getLock('b').forceUnlock()
  const lost = await lock.unlock().catch((error) => error)
  expect([lost.code, lost.lockName]).toEqual(['HOLDFAST_LEASE_LOST', 'b'])
  expect(await lockedOf(ABC)).toEqual([])
  await lock.lock()
  for (const name of ['a', 'c']) await client.getLock(name).forceUnlock()
  const both = await lock.unlock().catch((error) => error)
  expect([both.code, both.errors.length, both.cause.errors.length]).toEqual([
    'HOLDFAST_NOT_RELEASED',
    2,
    2,
  ])
  expect(both.message).toMatch(/"a".*"c"/s)
  expect(await lockedOf(ABC)).toEqual([])
})

test('`unlock()` rejects if the caller does not hold the locks together', async () => {
  const client = newClient()
  const lock = multi(client, 'a', 'b')
  await expect(lock.unlock()).rejects.toThrow(NotHeldError)
  await client.run(async () => {
    await lock.lock()
    await multi(client, 'b', 'a').unlock()
    expect(await lockedOf(ABC)).toEqual([])
  })
})

test("`unlock()` outside any frame does not release the locks of another task's `using()`", async () => {
  const lock = multi(newClient(), 'a', 'b')
  const [inside, over] = [deferred<MultiLease>(), deferred<void>()]
  const work = lock.using(async (lease) => {
    inside.resolve(lease)
    await over.promise
    expect(await lock.isHeld()).toBe(true)
  })
  const lease = await inside.promise
  await expect(lock.unlock()).rejects.toThrow(NotHeldError)
  expect(lease.valid).toBe(true)
  expect(await lockedOf(ABC)).toEqual(['a', 'b'])
  over.resolve()
  await work
})

test('code in `using()` re-enters its locks together or one by one, and no other lock', async () => {
  const client = newClient()
  await multi(client, 'a', 'b').using(async () => {
    const again = multi(client, 'a', 'b')
    await again.lock()
    expect(await again.isHeld()).toBe(true)
    await multi(client, 'a', 'b').unlock()
    await expect(again.unlock()).rejects.toThrow(NotHeldError)
    const one = await client.getLock('a').lock()
    await Promise.all(['a', 'b'].map((name) => client.getLock(name).using(() => {})))
    await one.release()
    const other = await client.getLock('c').lock()
    expect(await client.getLock('c').tryLock()).toBeNull()
    expect(await multi(client, 'a', 'c').tryLock()).toBeNull()
    await other.release()
  })
  expect(await lockedOf(ABC)).toEqual([])
})

test('code in `using()` re-enters a lock with a given owner through any lock object', async () => {
  const client = newClient()
  const owned = client.getLock('a', { owner: client.owner() })
  await client.getMultiLock(owned, client.getLock('b')).using(async () => {
    const again = await client.getLock('a').tryLock()
    expect(again).not.toBeNull()
    expect(await server.admin.hvals('a')).toEqual(['2'])
    await again?.release()
    const fresh = await client.getLock('c').lock()
    expect(fresh.owner).not.toBe(again?.owner)
    await fresh.release()
  })
})

test('a lease with its own length is renewed for all locks if `renew` is true', async () => {
  const client = newClient({ leaseMs: 60_000 })
  const renewed = jest.fn()
  client.on('renewed', renewed)
  const lease = await multi(client, 'a', 'b').lock({ leaseMs: 3_600, renew: true })
  await eventually(() => renewed.mock.calls.length >= 3)
  expect(renewed).toHaveBeenCalledWith({ holds: 2 })
  expect(lease.remaining()).toBeLessThanOrEqual(3_600)
  expect(await lease.release()).toBe(true)
})

test('`lock()` and `using()` reject when their wait time ends, and hold no lock', async () => {
  const client = newClient()
  const b = await newClient().getLock('b').lock()
  const timeout = { code: 'HOLDFAST_WAIT_TIMEOUT', lockName: 'a + b' }
  expect(await multi(client, 'a', 'b').tryLock()).toBeNull()
  await expect(multi(client, 'a', 'b').lock({ waitMs: 400 })).rejects.toMatchObject(timeout)
  const work = jest.fn()
  const other = newClient({ waitMs: 400 })
  expect(await multi(other, 'a', 'b').tryLock()).toBeNull()
  const using = multi(other, 'a', 'b').using(work)
  await expect(using).rejects.toMatchObject(timeout)
  expect(work).not.toHaveBeenCalled()
  await b.release()
  expect(await lockedOf(ABC)).toEqual([])
})

test('`using()` rejects if a lock was lost before the work ended', async () => {
  const client = newClient()
  const work = multi(client, 'a', 'b').using(() => client.getLock('b').forceUnlock())
  await expect(work).rejects.toThrow(LeaseLostError)
  expect(await lockedOf(ABC)).toEqual([])
})

test('`using()` rejects with the loss, and the error of the work is its cause', async () => {
  const client = newClient()
  const thrown = new Error('of the work')
  const losing = (...names: string[]) =>
    multi(client, 'a', 'b', 'c').using(async () => {
      for (const name of names) await client.getLock(name).forceUnlock()
      throw thrown
    })
  const one = await losing('b').catch((error: unknown) => error)
  expect(one).toMatchObject({ code: 'HOLDFAST_LEASE_LOST', lockName: 'b', cause: thrown })
  const two = await losing('b', 'c').catch((error: unknown) => error)
  expect(two).toMatchObject({ code: 'HOLDFAST_NOT_RELEASED', cause: thrown })
  expect(
    (two as NotReleasedError).errors.map((error) => (error as LeaseLostError).lockName),
  ).toEqual(['b', 'c'])
  expect((two as Error).message).toMatch(/Error: of the work/)
  expect(await lockedOf(ABC)).toEqual([])
})

test('the end of an `await using` block rejects after a loss, unless the loss was reported before', async () => {
  const client = newClient()
  const lose = () => client.getLock('b').forceUnlock()
  const work = async () => {
    await using _ = await multi(client, 'a', 'b').lock()
    await lose()
  }
  await expect(work()).rejects.toMatchObject({ code: 'HOLDFAST_LEASE_LOST', lockName: 'b' })
  {
    await using lease = await multi(client, 'a', 'b').lock()
    await lose()
    expect(() => lease.assertValid()).toThrow(LeaseLostError)
  }
  {
    await using lease = await multi(client, 'a', 'b').lock()
    await lose()
    expect(await lease.release()).toBe(false)
  }
  {
    const closing = newClient()
    await using _ = await multi(closing, 'a', 'b').lock()
    await closing.close()
  }
  expect(await lockedOf(ABC)).toEqual([])
})

test('`unlock()` passes over a lease that expired, and releases the lease that is held', async () => {
  const client = newClient()
  const lock = multi(client, 'a', 'b')
  const first = await lock.lock(500)
  await eventually(async () => first.signal.aborted && (await lockedOf(ABC)).length === 0)
  await new Promise((go) => setTimeout(go, 200))
  const lease = await lock.lock()
  expect(await lock.isHeld()).toBe(true)
  await lock.unlock()
  expect([lease.valid, await lockedOf(ABC)]).toEqual([false, []])
})

test('an abort ends the wait and leaves no lock', async () => {
  const [mine, theirs] = [newClient(), newClient()]
  const busy = await theirs.getLock('b').lock()
  const abort = new AbortController()
  const locking = multi(mine, ...ABC).lock({ signal: abort.signal })
  locking.catch(() => {})
  await waitedFor('b')
  abort.abort(new Error('enough'))
  await expect(locking).rejects.toThrow('enough')
  await eventually(async () => (await lockedOf(ABC)).length === 1)
  await busy.release()
  await eventually(async () => (await lockedOf(ABC)).length === 0)
})

test('an abort between two requests leaves no waiter behind', async () => {
  const [mine, theirs] = [newClient(), newClient()]
  const busy = await theirs.getLock('a').lock()
  await mine.getLock('c').isLocked()
  const acquired: string[] = []
  mine.on('acquired', ({ name }) => acquired.push(name))
  // The wait is aborted as soon as the other lock is acquired. In some rounds, the abort comes between two requests.
  for (let turns = 0; turns < 12; turns++) {
    const abort = new AbortController()
    const locking = multi(mine, 'a', 'b').lock({ signal: abort.signal })
    locking.catch(() => {})
    for (let turn = 0; turn < turns; turn++) await null
    const lease = await mine.getLock('c').lock()
    abort.abort(new Error('the other came first'))
    await expect(locking).rejects.toThrow('the other came first')
    await lease.release()
  }
  acquired.splice(0)
  await busy.release()
  await never(() => acquired.length > 0, 200)
  expect(await lockedOf(['a', 'b'])).toEqual([])
})

test('`close()` ends the wait and releases the held locks', async () => {
  const [mine, theirs] = [newClient(), newClient()]
  const busy = await theirs.getLock('b').lock()
  await multi(mine, 'd', 'e').lock()
  const locking = multi(mine, ...ABC).lock()
  locking.catch(() => {})
  await waitedFor('b')
  await mine.close()
  await expect(locking).rejects.toMatchObject({ code: 'HOLDFAST_CLOSED' })
  expect(await lockedOf([...ABC, 'd', 'e'])).toEqual(['b'])
  await busy.release()
})

test('a fixed lease lasts equally long for all locks, even for the lock that was acquired first', async () => {
  const [mine, theirs] = [newClient(), newClient()]
  const [a, b] = [await theirs.getLock('a').lock(), await theirs.getLock('b').lock()]
  const locking = multi(mine, 'a', 'b').lock(3_000)
  await waitedFor('b')
  await b.release()
  await waitedFor('a')
  await eventually(async () => (await server.admin.pttl('b')) < 2_300)
  await a.release()
  const lease = await locking
  // Without the longer lease of b, the difference would be 700 ms or more.
  const ttls = await Promise.all(['a', 'b'].map((name) => server.admin.pttl(name)))
  expect(Math.abs(Number(ttls[0]) - Number(ttls[1]))).toBeLessThan(600)
  expect(lease.remaining()).toBeGreaterThan(2_000)
  await lease.release()
})

test('the watchdog renews all locks, and `extend()` lengthens all leases', async () => {
  const client = newClient({ leaseMs: 3_000 })
  const lease = await multi(client, ...ABC).lock()
  let renewed = 0
  client.on('renewed', ({ holds }) => {
    if (holds === 3) renewed += 1
  })
  await eventually(() => renewed >= 4)
  expect(lease.valid).toBe(true)
  await lease.extend(20_000)
  expect(lease.remaining()).toBeGreaterThan(15_000)
  await lease.release()
})

describe('an object that waits for itself', () => {
  const selfWaits = (warn: jest.SpyInstance): string[] =>
    warn.mock.calls.flatMap(([text, { code } = { code: '' }]) =>
      code === 'HOLDFAST_SELF_WAIT' ? [String(text)] : [],
    )
  afterEach(() => jest.restoreAllMocks())

  type Lockable = Pick<HoldfastLock | MultiLock, 'lock'>

  test.each<[string, (client: Holdfast, a: HoldfastLock, b: HoldfastLock) => [Lockable, Lockable]]>(
    [
      [
        'a MultiLock that already holds its locks',
        (client, a, b) => {
          const lock = client.getMultiLock(a, b)
          return [lock, lock]
        },
      ],
      [
        'a MultiLock with a lock object that is held alone',
        (client, a, b) => [a, client.getMultiLock(b, a)],
      ],
      [
        'a MultiLock with a lock object that another MultiLock holds',
        (client, a, b) => [client.getMultiLock(client.getLock('c'), a), client.getMultiLock(a, b)],
      ],
      ['a lock object that a MultiLock holds', (client, a, b) => [client.getMultiLock(a, b), a]],
    ],
  )('a warning names the lock and the remedy once: %s', async (_, locksOf) => {
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue()
    const client = newClient()
    const [outer, inner] = locksOf(client, client.getLock('a'), client.getLock('b'))
    const lease = await outer.lock()
    const abort = new AbortController()
    const nested = [1, 2].map(() => inner.lock({ signal: abort.signal }))
    await eventually(() => selfWaits(warn).length > 0)
    await never(() => selfWaits(warn).length > 1, 100)
    expect(selfWaits(warn)[0]).toMatch(/"a( \+ b)?".*using\(fn\).*run\(fn\).*owner/)
    abort.abort(new Error('enough'))
    for (const each of nested) await expect(each).rejects.toThrow('enough')
    await lease.release()
  })

  test('no warning appears for locks of other clients, for re-entries or for short waits', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue()
    const [client, others] = [newClient(), newClient()]
    const [a, b] = [client.getLock('a'), client.getLock('b')]
    const lock = client.getMultiLock(a, b)
    const theirs = await others.getLock('a').lock()
    const alone = client.getLock('a').lock()
    const waits = [lock.lock(), a.lock(), client.getMultiLock(b, a).lock()]
    await never(() => selfWaits(warn).length > 0, 800)
    await theirs.release()
    await (await alone).release()
    await Promise.all(waits.map(async (wait) => (await wait).release()))
    await client.run(async () => {
      await lock.lock()
      await a.lock()
      const third = lock.lock()
      await (await third).release()
      await a.unlock()
      await lock.unlock()
    })
    const lease = await lock.lock()
    const next = a.lock()
    await lease.release()
    await (await next).release()
    const last = await a.lock()
    const whole = lock.lock()
    await last.release()
    await (await whole).release()
    await never(() => selfWaits(warn).length > 0, 600)
  })
})

test('a multi-lock works after the server forgets its scripts', async () => {
  const lock = multi(newClient(), ...ABC)
  for (let round = 0; round < 3; round++) {
    await server.admin.script('FLUSH')
    await (await lock.lock()).release()
  }
  expect(scripts.acquireAll.args).toContain('notAfterUs')
})

test.each([[[]], [['a']], [[null]], [[{ name: 'a' }]], [[[]]]])(
  'getMultiLock(%j) is refused',
  (given) => {
    const client = newClient()
    expect(() => client.getMultiLock(...(given as unknown as HoldfastLock[]))).toThrow(
      InvalidArgumentError,
    )
  },
)
