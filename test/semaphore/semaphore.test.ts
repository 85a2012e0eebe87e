import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../src/index.ts'
import { atLoad } from '../support/at-load.ts'
import { eventually } from '../support/eventually.ts'
import { outcome, within } from '../support/fault-rig.ts'
import { lastingKeys } from '../support/lasting-keys.ts'
import { atEnd } from '../support/lifetime.ts'
import {
  leastMs,
  leftIn,
  listening,
  placesIn,
  queued,
  semaphoreOf,
  semaphoreRig,
} from './support.ts'

const rig = semaphoreRig()

describe('permits', () => {
  test('any client may acquire and release permits, and nothing but the semaphore is left in Redis', async () => {
    const [a, b] = [rig.client(), rig.witness()]
    const [mine, theirs] = [semaphoreOf(a), semaphoreOf(b)]
    expect(mine.name).toBe('it')
    expect(await mine.availablePermits()).toBe(0)
    expect(await mine.trySetPermits(3)).toBe(true)
    expect(await theirs.trySetPermits(5)).toBe(false)
    await mine.acquire()
    expect(await mine.tryAcquire({ permits: 2 })).toBe(true)
    expect(await theirs.tryAcquire()).toBe(false)
    expect(await theirs.tryAcquire({ waitMs: 250 })).toBe(false)
    await theirs.release(2)
    expect(await rig.server.admin.get('it')).toBe('2')
    expect(await theirs.tryAcquire({ permits: 3 })).toBe(false)
    await theirs.release()
    expect(await mine.availablePermits()).toBe(3)
    await Promise.all([a.close(), b.close()])
    expect(await lastingKeys(rig.server.admin)).toEqual(['it'])
  })

  test('permits have no owner: a client that closes returns none', async () => {
    const client = rig.client()
    await semaphoreOf(client).trySetPermits(2)
    await semaphoreOf(client).acquire()
    await client.close()
    expect(await rig.server.admin.get('it')).toBe('1')
  })

  test('permits of `using()` are returned once when the client closes, although the work continues', async () => {
    const client = rig.client()
    await semaphoreOf(client).trySetPermits(2)
    let end: (() => void) | undefined
    const errors: Error[] = []
    client.on('error', (error) => errors.push(error))
    const working = semaphoreOf(client).using(
      () =>
        new Promise<void>((resolve) => {
          end = resolve
        }),
    )
    await eventually(() => end !== undefined)
    expect(await rig.server.admin.get('it')).toBe('1')
    await client.close()
    expect(await rig.server.admin.get('it')).toBe('2')
    end?.()
    await working
    expect(await rig.server.admin.get('it')).toBe('2')
    expect(errors).toEqual([])
  })

  test('zero permits are always available, and no request is sent', async () => {
    const semaphore = semaphoreOf(rig.client())
    await semaphore.acquire(0)
    expect(await semaphore.tryAcquire({ permits: 0 })).toBe(true)
    await semaphore.release(0)
    expect(rig.proxy.requests.length).toBe(0)
  })

  test('permits are acquired with the options `permits`, `waitMs` and `signal` too', async () => {
    const semaphore = semaphoreOf(rig.client())
    await semaphore.trySetPermits(3)
    await semaphore.acquire({ permits: 2 })
    await semaphore.acquire(1, { waitMs: 10_000 })
    expect(await semaphore.availablePermits()).toBe(0)
    const { error } = await outcome(semaphore.acquire({ waitMs: 500 }))
    expect(error).toMatchObject({ code: 'HOLDFAST_WAIT_TIMEOUT' })
    const signal = AbortSignal.timeout(30)
    const aborted = await outcome(semaphore.acquire({ permits: 2, signal }))
    expect(aborted.error).toBe(signal.reason)
    await semaphore.acquire({ permits: 0 })
    await semaphore.release(3)
  })

  test('the number can be raised, lowered below zero, and drained', async () => {
    const semaphore = semaphoreOf(rig.client())
    expect(await semaphore.addPermits(3)).toBe(3)
    await semaphore.acquire(2)
    expect(await semaphore.addPermits(-3)).toBe(-2)
    expect(await semaphore.drainPermits()).toBe(0)
    expect(await semaphore.availablePermits()).toBe(-2)
    await semaphore.release(2)
    expect(await semaphore.tryAcquire()).toBe(false)
    expect(await semaphore.addPermits(4)).toBe(4)
    expect(await semaphore.drainPermits()).toBe(4)
    expect(await semaphore.availablePermits()).toBe(0)
  })

  test('permits are gone with a semaphore that has an expiry, and `releaseIfExists()` creates none', async () => {
    const semaphore = semaphoreOf(rig.client())
    expect(await semaphore.releaseIfExists(2)).toBe(false)
    expect(await semaphore.trySetPermits(2, { ttlMs: 1_500 })).toBe(true)
    await semaphore.acquire(2)
    expect(await semaphore.releaseIfExists()).toBe(true)
    expect(await rig.server.admin.pttl('it')).toBeGreaterThan(0)
    await eventually(async () => !(await rig.exists('it')))
    expect(await semaphore.releaseIfExists()).toBe(false)
    expect(await rig.exists('it')).toBe(false)
    expect(await semaphore.trySetPermits(1)).toBe(true)
    expect(await rig.server.admin.pttl('it')).toBe(-1)
  })

  test('`using()` holds permits during the work, and returns them even if the work fails', async () => {
    const semaphore = semaphoreOf(rig.client())
    await semaphore.trySetPermits(3)
    const work = async () => {
      expect(await semaphore.availablePermits()).toBe(1)
      expect(await semaphore.tryUsing(() => 1, { permits: 2 })).toBeNull()
      return 'done'
    }
    expect(await semaphore.using(work, { permits: 2 })).toBe('done')
    await expect(semaphore.using(() => Promise.reject(new Error('mine')))).rejects.toThrow('mine')
    expect(await semaphore.tryUsing(() => 7, { waitMs: 10_000 })).toBe(7)
    expect(await semaphore.tryUsing(() => 7, { permits: 1_000, otherwise: 'busy' })).toBe('busy')
    expect(await semaphore.availablePermits()).toBe(3)
  })
})

describe('a waiter', () => {
  test('waiters are served in the order in which they came, across clients and inside one client', async () => {
    const [a, b, c] = [rig.client(), rig.client(), rig.client()].map(semaphoreOf)
    await a?.trySetPermits(0)
    const served: string[] = []
    const waits: Promise<unknown>[] = []
    for (const [who, semaphore] of [
      ['a1', a],
      ['b1', b],
      ['a2', a],
      ['c1', c],
      ['b2', b],
    ] as const) {
      waits.push((semaphore as NonNullable<typeof a>).acquire().then(() => served.push(who)))
      await pause(120)
    }
    for (let n = 1; n <= waits.length; n++) {
      await c?.release()
      await eventually(() => served.length === n)
    }
    expect(served).toEqual(['a1', 'b1', 'a2', 'c1', 'b2'])
    // The order is the same if several permits are available at once.
    served.length = 0
    for (const [who, semaphore] of [
      ['a1', a],
      ['b1', b],
      ['a2', a],
    ] as const) {
      waits.push((semaphore as NonNullable<typeof a>).acquire().then(() => served.push(who)))
      await pause(120)
    }
    await c?.release(2)
    await eventually(() => served.length === 2)
    expect(served.sort()).toEqual(['a1', 'b1'])
    await c?.release()
    await Promise.all(waits)
  })

  test('a waiter for many permits is not overtaken by a stream of smaller requests', async () => {
    const [many, few] = [semaphoreOf(rig.client()), semaphoreOf(rig.client())]
    await few.trySetPermits(4)
    let over = false
    const stream = [0, 1, 2].map(async (i) => {
      await pause(i * 9)
      while (!over) await few.using(() => pause(25))
    })
    await pause(50)
    try {
      expect(await many.tryAcquire({ permits: 4, waitMs: 10_000 })).toBe(true)
      expect(await few.tryAcquire()).toBe(false)
      await many.release(4)
    } finally {
      over = true
      await Promise.all(stream)
    }
    expect(await few.availablePermits()).toBe(4)
  })

  test('a release of Redisson wakes a waiter, although its messages are numbers', async () => {
    const semaphore = semaphoreOf(rig.client())
    await semaphore.trySetPermits(0)
    const wakeMs = await leastMs(async () => {
      const waiting = semaphore.acquire()
      await queued(rig, 1)
      await listening(rig, 1, 'redisson_sc:{it}')
      await pause(100)
      await rig.server.admin.incrby('it', 1)
      const from = performance.now()
      await rig.server.admin.publish('redisson_sc:{it}', '1')
      await waiting
      return performance.now() - from
    })
    expect(wakeMs).toBeLessThan(atLoad(500))
  })

  test('the next waiter is served at once when the first waiter gives up', async () => {
    const [a, b] = [semaphoreOf(rig.client()), semaphoreOf(rig.client())]
    await a.trySetPermits(2)
    const wakeMs = await leastMs(async () => {
      const controller = new AbortController()
      const aborted = outcome(a.acquire(3, { signal: controller.signal }))
      await queued(rig, 1)
      const waiting = b.acquire(2)
      await queued(rig, 2)
      await listening(rig, 2)
      await pause(100)
      const from = performance.now()
      controller.abort(new Error('enough'))
      expect((await aborted).error).toEqual(new Error('enough'))
      await waiting
      const tookMs = performance.now() - from
      await b.release(2)
      return tookMs
    })
    expect(wakeMs).toBeLessThan(atLoad(500))
    await b.acquire(2)
    await eventually(async () => (await placesIn(rig)).length === 0)
    const timed = outcome(a.tryAcquire({ permits: 3, waitMs: 1_500 }))
    await queued(rig, 1)
    const next = b.acquire(1)
    await b.release(1)
    expect(await timed).toMatchObject({ value: false })
    await within(5_000, next)
  })

  test('a waiter that gives up makes way for a smaller request of the same client', async () => {
    const semaphore = semaphoreOf(rig.client())
    await semaphore.trySetPermits(2)
    const controller = new AbortController()
    const aborted = outcome(semaphore.acquire(3, { signal: controller.signal }))
    await queued(rig, 1)
    const waiting = semaphore.acquire(2)
    controller.abort()
    expect((await aborted).error).toBeDefined()
    await within(5_000, waiting)
    await eventually(async () => (await placesIn(rig)).length === 0)
  })

  test('`close()` ends a wait with `ClosedError`, and leaves no place', async () => {
    const [closing, other] = [rig.client(), semaphoreOf(rig.client())]
    await other.trySetPermits(1)
    const first = outcome(semaphoreOf(closing).acquire(2))
    const second = outcome(semaphoreOf(closing).acquire(2))
    await queued(rig, 1)
    const waiting = other.acquire()
    await queued(rig, 2)
    await closing.close()
    for (const { error } of [await first, await second]) {
      expect(error).toMatchObject({ code: 'HOLDFAST_CLOSED', lockName: 'it' })
    }
    expect((await outcome(semaphoreOf(closing).release())).error).toMatchObject({
      code: 'HOLDFAST_CLOSED',
    })
    await within(5_000, waiting)
    expect(await placesIn(rig)).toEqual([])
  })

  test('`inspect()` lists a waiter, and the event `wait` reports it', async () => {
    const [a, b] = [rig.client(), rig.client()]
    const told: string[] = []
    a.on('wait', ({ name }) => told.push(name))
    await semaphoreOf(b).trySetPermits(1)
    expect(await semaphoreOf(b).inspect()).toEqual({
      isSet: true,
      available: 1,
      waiting: [],
    })
    const waiting = semaphoreOf(a).acquire(2)
    await queued(rig, 1)
    const { available, waiting: those } = await semaphoreOf(b).inspect()
    expect(available).toBe(1)
    expect(those).toEqual([{ client: a.id, waitedMs: expect.any(Number), permits: 2 }])
    await semaphoreOf(b).release()
    await within(5_000, waiting)
    expect(told).toEqual(['it'])
  })
})

test('an abort in the tick of the grant leaves no permit taken, or comes too late', async () => {
  const semaphore = semaphoreOf(rig.client())
  await semaphore.trySetPermits(1_000)
  let taken = 0
  for (let i = 0; i < 60; i++) {
    const controller = new AbortController()
    const work = semaphore.acquire(1, { signal: controller.signal }).then(
      () => {
        taken += 1
      },
      () => undefined,
    )
    // The abort comes at any moment from before the request until after the grant.
    for (let turns = i % 12; turns > 0; turns--) await new Promise((next) => setImmediate(next))
    controller.abort()
    await work
  }
  await eventually(async () => (await semaphore.availablePermits()) === 1_000 - taken)
})

test('an abort by a listener of the event `wait` ends the wait, and leaves no place', async () => {
  const client = rig.client()
  const semaphore = semaphoreOf(client)
  await semaphore.trySetPermits(0)
  const controller = new AbortController()
  client.on('wait', () => controller.abort(new Error('at once')))
  const { error } = await outcome(semaphore.acquire(1, { signal: controller.signal }))
  expect(error).toEqual(new Error('at once'))
  await semaphore.release()
  await eventually(async () => (await placesIn(rig)).length === 0)
  expect(await semaphore.availablePermits()).toBe(1)
})

test('the records of requests in Redis stay few, have an expiry, and are deleted soon', async () => {
  // If a request takes too long, its record is deleted only by its expiry.
  const semaphore = semaphoreOf(rig.client({ commandTimeoutMs: 60_000 }))
  await semaphore.trySetPermits(50)
  let most = 0
  let over = false
  const watch = (async () => {
    while (!over) most = Math.max(most, (await leftIn(rig)).length)
  })()
  const cycles = Array.from({ length: 10 }, async () => {
    for (let i = 0; i < 40; i++) await semaphore.using(() => undefined)
  })
  await Promise.all(cycles)
  over = true
  await watch
  // Each of the ten callers has at most one request in flight, and one that was just answered.
  expect(most).toBeLessThanOrEqual(40)
  for (const key of await leftIn(rig)) expect(await rig.server.admin.pttl(key)).toBeGreaterThan(0)
  await eventually(async () => (await leftIn(rig)).length === 0)
  expect(await semaphore.availablePermits()).toBe(50)
})

describe('invalid arguments of a semaphore', () => {
  const bad = [-1, 1.5, Number.NaN, 2_147_483_648, '3', null] as unknown as number[]

  test.each(bad)('%p permits are refused before any request', async (permits) => {
    const semaphore = semaphoreOf(rig.client())
    const calls = [
      () => semaphore.trySetPermits(permits),
      () => semaphore.tryAcquire({ permits }),
      () => semaphore.using(() => 1, { permits }),
      () => semaphore.acquire(permits),
      () => semaphore.acquire({ permits }),
      () => semaphore.release(permits),
      () => semaphore.releaseIfExists(permits),
      ...(permits === -1 ? [] : [() => semaphore.addPermits(permits)]),
    ]
    for (const call of calls) {
      const { error } = await outcome(call() as Promise<unknown>)
      expect(error).toMatchObject({ code: 'HOLDFAST_INVALID_ARGUMENT' })
      expect(String(error)).toContain(typeof permits === 'string' ? '"3"' : String(permits))
    }
    expect(rig.proxy.requests.length).toBe(0)
  })

  test('invalid options and extra arguments are refused before any request', async () => {
    const semaphore = semaphoreOf(rig.client()) as unknown as Record<
      string,
      (...args: unknown[]) => Promise<unknown>
    >
    for (const [method, args, said] of [
      ['acquire', [1, { waitMs: 0 }], 'tryAcquire'],
      ['acquire', [1, { waitMs: '5' }], 'got "5"'],
      ['acquire', [1, 5], 'got 5'],
      ['acquire', [1, {}, 'SECONDS'], '"SECONDS"'],
      ['acquire', [1, { signal: 1 }], 'got 1'],
      ['tryAcquire', [2], 'got 2'],
      ['tryAcquire', [{ waitMs: 0 }], 'got 0'],
      ['tryAcquire', [{ waitMs: -1 }], 'got -1'],
      ['tryAcquire', [{ permit: 1 }], 'permit'],
      ['using', [5], 'got 5'],
      ['using', [() => 1, { waitMs: 0 }], 'tryAcquire'],
      ['trySetPermits', [1, { ttlMs: 0 }], 'got 0'],
      ['trySetPermits', [1, 500], 'got 500'],
      ['release', [1, 'SECONDS'], '"SECONDS"'],
    ] as const) {
      const call = semaphore[method] as (...args: unknown[]) => Promise<unknown>
      const { error } = await outcome(call.apply(semaphore, [...args]))
      expect(error).toMatchObject({ code: 'HOLDFAST_INVALID_ARGUMENT' })
      expect(String(error)).toContain(said)
    }
    expect(() => rig.client().getSemaphore('')).toThrow('""')
    expect(rig.proxy.requests.length).toBe(0)
  })

  test('a call with an aborted signal, or on a closed client, rejects', async () => {
    const client = rig.client()
    const semaphore = semaphoreOf(client)
    const aborted = AbortSignal.abort(new Error('before'))
    expect((await outcome(semaphore.acquire(1, { signal: aborted }))).error).toEqual(
      new Error('before'),
    )
    await client.close()
    for (const call of [
      semaphore.acquire(),
      semaphore.tryAcquire(),
      semaphore.availablePermits(),
    ]) {
      expect((await outcome(call as Promise<unknown>)).error).toMatchObject({
        code: 'HOLDFAST_CLOSED',
      })
    }
  })
})

test('a key of another type is refused with the words of Redis', async () => {
  await rig.server.admin.hset('it', 'c:1', 1)
  const semaphore = semaphoreOf(rig.client())
  const lock = rig.client()
  for (const call of [
    () => semaphore.acquire(),
    () => semaphore.tryAcquire({ waitMs: 2_000 }),
    () => semaphore.release(),
    () => semaphore.trySetPermits(1),
    () => semaphore.availablePermits(),
  ]) {
    const { error } = await outcome<unknown>(call())
    expect(error).toMatchObject({ code: 'HOLDFAST_REFUSED', lockName: 'it' })
    expect(String(error)).toContain('WRONGTYPE')
  }
  await rig.server.admin.set('it', '3')
  const { error } = await outcome(lock.getLock('it').tryLock())
  expect(error).toMatchObject({ code: 'HOLDFAST_REFUSED', lockName: 'it' })
  expect(await rig.server.admin.get('it')).toBe('3')
})

test('masters have no semaphores, because majorities cannot count permits', async () => {
  const client = new Holdfast({ masters: ['redis://127.0.0.1:1', 'redis://127.0.0.1:2'] })
  atEnd(() => client.close(), { beforeCheck: true })
  expect(() => client.getSemaphore('it')).toThrow(/"it".*Majorities cannot count permits/)
})
