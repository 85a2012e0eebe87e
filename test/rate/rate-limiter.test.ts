import {
  ClosedError,
  Holdfast,
  InvalidArgumentError,
  type RateLimiter,
  RedisRefusedError,
  WaitTimeoutError,
} from '../../src/index.ts'
import { scaledMs } from '../support/at-load.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { type OptionsOfBoth, redisAndMemory } from '../support/redis-and-memory.ts'

const { server, places } = redisAndMemory()

/** No permit becomes free within this time, in milliseconds. */
const LONG_MS = 600_000

let names = 0

describe.each(places)('a rate limiter on $place', ({ place, make }) => {
  let name = 'it'
  beforeEach(() => {
    name = `rate-${++names}`
    const keys = [name, `holdfast_rate:{${name}}`]
    atEnd(() => server.admin.del(...keys), { beforeCheck: true })
  })

  const newClient = (options: OptionsOfBoth = {}) => {
    const client = make(options)
    atEnd(() => client.close(), { beforeCheck: true })
    return client
  }
  const limiterOf = (permits = 2, perMs = LONG_MS, client = newClient()) =>
    client.getRateLimiter(name, { permits, perMs })

  const waitingAt = (limiter: RateLimiter, count: number) =>
    eventually(async () => (await limiter.inspect()).waiting === count, {
      message: `${count} waiting calls`,
    })

  test('grants its permits to all clients together, and says when the next permit is free', async () => {
    const [one, other] = [limiterOf(3), limiterOf(3)]
    expect(await one.tryAcquire()).toEqual({ granted: true, retryAfterMs: 0 })
    expect(await other.tryAcquire({ cost: 2 })).toEqual({ granted: true, retryAfterMs: 0 })
    const { granted, retryAfterMs } = await one.tryAcquire()
    expect(granted).toBe(false)
    expect(retryAfterMs).toBeGreaterThan(LONG_MS / 2)
    expect(retryAfterMs).toBeLessThanOrEqual(LONG_MS)
    const info = await other.inspect()
    expect(info).toMatchObject({ permits: 3, perMs: LONG_MS, used: 3, waiting: 0 })
    expect(info.retryAfterMs).toBeGreaterThan(LONG_MS / 2)
  })

  test('never grants more than its permits in any interval, with many calls at once', async () => {
    const [permits, perMs] = [5, 300]
    const limiters = [1, 2, 3].map(() => limiterOf(permits, perMs))
    const times: number[] = []
    await Promise.all(
      limiters.flatMap((limiter) =>
        Array.from({ length: 8 }, async () => {
          await limiter.acquire()
          times.push(performance.now())
        }),
      ),
    )
    // The sixth grant begins at least `perMs` after the first one. A timer never ends early.
    const first = times[0] as number
    const last = times.at(-1) as number
    expect(times).toHaveLength(24)
    expect(last - first).toBeGreaterThan(3.5 * perMs)
  })

  test('calls wait in order, and a call that tries does not overtake them', async () => {
    const limiter = limiterOf(1, 400)
    await limiter.acquire()
    const order: number[] = []
    // One connection sends these requests in order.
    const waiting = [0, 1, 2].map(async (n) => {
      await limiter.acquire()
      order.push(n)
    })
    expect(await limiter.tryAcquire()).toMatchObject({ granted: false })
    await Promise.all(waiting)
    expect(order).toEqual([0, 1, 2])
  })

  test('a call that would wait for longer than `waitMs` rejects at once, and uses no permits', async () => {
    const limiter = limiterOf(2, LONG_MS)
    await limiter.acquire({ cost: 2 })
    const error = await limiter.acquire({ waitMs: 1_000 }).catch((failure: unknown) => failure)
    expect(error).toBeInstanceOf(WaitTimeoutError)
    expect(String(error)).toMatch(
      /^WaitTimeoutError: Rate limiter "rate-\d+": 1 permit would be available in \d+ ms, and `waitMs` is 1000\. The limit is 2 permits in 600000 ms\./,
    )
    expect(await limiter.inspect()).toMatchObject({ used: 2, waiting: 0 })
  })

  test('the `waitMs` of the client is the default', async () => {
    const limiter = limiterOf(1, LONG_MS, newClient({ waitMs: 50 }))
    await limiter.acquire()
    await expect(limiter.acquire()).rejects.toThrow(WaitTimeoutError)
    const waits = limiter.acquire({ waitMs: Infinity, signal: AbortSignal.timeout(100) })
    await expect(waits).rejects.toThrow(/aborted due to timeout/)
  })

  test('an aborted call rejects with the reason, and gives its permits back', async () => {
    const limiter = limiterOf(1, LONG_MS)
    await limiter.acquire()
    const controller = new AbortController()
    const waiting = limiter.acquire({ signal: controller.signal })
    await waitingAt(limiter, 1)
    controller.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    await waitingAt(limiter, 0)
    const { retryAfterMs } = await limiter.tryAcquire()
    expect(retryAfterMs).toBeLessThanOrEqual(LONG_MS)
    await expect(limiter.acquire({ signal: AbortSignal.abort(new Error('no')) })).rejects.toThrow(
      'no',
    )
  })

  test('close() rejects the waiting calls, and gives their permits back', async () => {
    const client = newClient()
    const limiter = limiterOf(1, LONG_MS)
    await limiter.acquire()
    const waiting = limiterOf(1, LONG_MS, client).acquire({ cost: 1 })
    const failure = waiting.catch((error: unknown) => error)
    await waitingAt(limiter, 1)
    expect(client.held().waiting).toMatchObject([
      { name, kind: 'rate', permits: 1, waitMs: null, holder: null },
    ])
    await client.close()
    expect(await failure).toBeInstanceOf(ClosedError)
    expect(await limiter.inspect()).toMatchObject({ used: 1, waiting: 0 })
    const closed = client.getRateLimiter(name, { permits: 1, perMs: 1_000 })
    await expect(closed.tryAcquire()).rejects.toThrow(ClosedError)
    await expect(closed.acquire()).rejects.toThrow(ClosedError)
  })

  test('while the client drains, new calls are refused, and waiting calls get their permits', async () => {
    const client = newClient()
    const perMs = scaledMs(1_500)
    const limiter = limiterOf(1, perMs, client)
    const lease = await client.getLock(`${name}:held`).lock()
    await limiter.acquire()
    const waiting = limiter.acquire()
    await waitingAt(limiterOf(1, perMs), 1)
    const closed = client.close({ drainMs: 60_000 })
    await expect(limiter.tryAcquire()).rejects.toThrow(ClosedError)
    await expect(limiter.acquire()).rejects.toThrow(ClosedError)
    await waiting
    await lease.release()
    await closed
  })

  test('reset() deletes the grants of the past', async () => {
    const limiter = limiterOf(1)
    await limiter.acquire()
    expect(await limiter.tryAcquire()).toMatchObject({ granted: false })
    await limiter.reset()
    await limiter.reset()
    expect(await limiter.inspect()).toMatchObject({ permits: 1, used: 0, retryAfterMs: 0 })
    expect(await limiter.tryAcquire()).toMatchObject({ granted: true })
  })

  test('each client uses its own limit, and inspect() shows the limit of the last grant', async () => {
    const [small, great] = [limiterOf(2), limiterOf(5)]
    await great.acquire({ cost: 4 })
    expect(await small.tryAcquire()).toMatchObject({ granted: false })
    expect(await great.tryAcquire()).toMatchObject({ granted: true })
    expect(await small.inspect()).toMatchObject({ permits: 5, used: 5 })
  })

  test('the name of a lock is refused, and a lock with the name of a rate limiter too', async () => {
    const client = newClient()
    const lease = await client.getLock(name).lock()
    await expect(limiterOf().tryAcquire()).rejects.toThrow(/a lock has this name/)
    await lease.release()
    await limiterOf().tryAcquire()
    const refused = await client
      .getLock(name)
      .lock()
      .catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(RedisRefusedError)
    expect(String(refused)).toMatch(/a rate limiter has this name/)
  })

  test('no key is left when the interval has passed', async () => {
    await limiterOf(1, 50).acquire()
    await limiterOf(1, 50).acquire()
    if (place === 'Redis') {
      await eventually(async () => (await server.admin.keys(`*${name}*`)).length === 0)
    }
    await eventually(async () => (await limiterOf(1, 50).inspect()).used === 0)
  })

  test('invalid input is refused at once', async () => {
    // biome-ignore lint/suspicious/noExplicitAny: As callers without TypeScript write it.
    const client = newClient() as any
    const get = (options?: unknown, ...more: unknown[]) =>
      client.getRateLimiter(name, options, ...more)
    const limit = { permits: 2, perMs: 1_000 }
    const calls: [() => unknown, string][] = [
      [() => get(), 'needs its limit'],
      [() => get({ permits: 2 }), '`perMs`'],
      [() => get({ perMs: 2 }), '`permits`'],
      [() => get({ permits: 0, perMs: 1 }), '`permits` must be a whole number from 1 to 100000'],
      [() => get({ permits: 1, perMs: 0.5 }), '`perMs`'],
      [() => get({ ...limit, per: 1 }), 'There is no option `per`'],
      [() => get(limit, 1), 'Too many arguments'],
      [() => get(limit).acquire({ cost: 3 }), '`cost` must be a whole number from 1 to 2; got 3'],
      [() => get(limit).acquire({ waitMs: 0 }), 'use tryAcquire()'],
      [() => get(limit).acquire({}, 1), 'Too many arguments'],
      [() => get(limit).tryAcquire({ waitMs: 5 }), 'There is no option `waitMs`'],
      [() => get(limit).tryAcquire(1), 'must be an object with'],
    ]
    for (const [call, words] of calls) {
      const error: Error = await new Promise<never>((resolve) => resolve(call() as never)).catch(
        (failure) => failure,
      )
      expect(error).toBeInstanceOf(InvalidArgumentError)
      expect(error.message).toContain(words)
    }
    expect(await get(limit).inspect()).toMatchObject({ used: 0 })
  })
})

test('a client with independent masters refuses rate limiters', async () => {
  const client = new Holdfast({ masters: ['redis://127.0.0.1:1', 'redis://127.0.0.1:2'] })
  atEnd(() => client.close(), { beforeCheck: true })
  expect(() => client.getRateLimiter('it', { permits: 1, perMs: 1_000 })).toThrow(
    'Rate limiter "it": its permits need one server, and this client has independent masters',
  )
})
