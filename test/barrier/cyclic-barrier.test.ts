import {
  ClosedError,
  type CyclicBarrier,
  Holdfast,
  InvalidArgumentError,
  RedisRefusedError,
} from '../../src/index.ts'
import { eventually, never } from '../support/eventually.ts'
import { within } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import { type OptionsOfBoth, redisAndMemory } from '../support/redis-and-memory.ts'

const { server, places } = redisAndMemory()

// biome-ignore lint/suspicious/noExplicitAny: As callers without TypeScript write it.
type Any = any

let names = 0

describe.each(places)('a cyclic barrier on $place', ({ place, make }) => {
  let name = 'it'
  beforeEach(() => {
    name = `barrier-${++names}`
  })

  const newClient = (options: OptionsOfBoth = {}) => {
    const client = make(options)
    atEnd(() => client.close(), { beforeCheck: true })
    return client
  }
  const barrierOf = (options?: OptionsOfBoth) => newClient(options).getCyclicBarrier(name)
  const arrived = (barrier: CyclicBarrier, count: number) =>
    eventually(async () => (await barrier.inspect()).arrived === count, {
      message: `${count} arrivals`,
    })

  test('all parties of all clients continue when the last party arrives', async () => {
    const [one, two] = [barrierOf(), barrierOf()] as const
    const waiting = [
      one.await({ parties: 4 }),
      one.await({ parties: 4 }),
      two.await({ parties: 4 }),
    ]
    let settled = 0
    for (const each of waiting) each.finally(() => settled++)
    await arrived(one, 3)
    expect(await two.inspect()).toEqual({ arrived: 3, parties: 4, round: expect.any(Number) })
    await never(() => settled > 0, 100)
    expect(await within(2_000, two.await({ parties: 4 }))).toBe(true)
    expect(await within(2_000, Promise.all(waiting))).toEqual([true, true, true])
    expect(await one.inspect()).toEqual({ arrived: 0, parties: null, round: null })
  })

  test('a barrier for one party never waits', async () => {
    const barrier = barrierOf()
    for (let i = 0; i < 3; i++) {
      expect(await within(2_000, barrier.await({ parties: 1 }))).toBe(true)
    }
  })

  test('rounds do not mix: no party is a round ahead of another party', async () => {
    const parties = 3
    const rounds = 40
    const at = [0, 0, 0]
    const run = async (barrier: CyclicBarrier, me: number) => {
      for (let round = 1; round <= rounds; round++) {
        at[me] = round
        expect(await barrier.await({ parties, waitMs: 20_000 })).toBe(true)
        // Every party has arrived in this round, and none can have arrived in the round after the next.
        for (const other of at) expect([round, round + 1]).toContain(other)
      }
    }
    await within(20_000, Promise.all(at.map((_, me) => run(barrierOf(), me))))
    expect(at).toEqual([rounds, rounds, rounds])
  })

  test('a party more than the round needs begins the next round', async () => {
    const barriers = [barrierOf(), barrierOf(), barrierOf()] as const
    const results: boolean[] = []
    const calls = barriers.map(async (one) => {
      results.push(await one.await({ parties: 2 }))
    })
    await eventually(() => results.length === 2)
    await arrived(barriers[0], 1)
    expect(results).toEqual([true, true])
    expect(await within(2_000, barriers[0].await({ parties: 2 }))).toBe(true)
    await within(2_000, Promise.all(calls))
    expect(results).toEqual([true, true, true])
  })

  test('a party whose time is over leaves, and the others wait for another party', async () => {
    const [one, two, three] = [barrierOf(), barrierOf(), barrierOf()] as const
    const waiting = one.await({ parties: 3 })
    await arrived(one, 1)
    await two.inspect()
    expect(await within(2_000, two.await({ parties: 3, waitMs: 300 }))).toBe(false)
    expect(await one.inspect()).toMatchObject({ arrived: 1, parties: 3 })
    const second = three.await({ parties: 3 })
    await arrived(one, 2)
    expect(await within(2_000, two.await({ parties: 3 }))).toBe(true)
    expect(await within(2_000, Promise.all([waiting, second]))).toEqual([true, true])
  })

  test('an aborted party leaves', async () => {
    const [one, two] = [barrierOf(), barrierOf()] as const
    const controller = new AbortController()
    const waiting = one.await({ parties: 2, signal: controller.signal })
    await arrived(two, 1)
    const reason = new Error('enough')
    controller.abort(reason)
    await expect(within(2_000, waiting)).rejects.toBe(reason)
    await arrived(two, 0)
    await expect(one.await({ parties: 2, signal: controller.signal })).rejects.toBe(reason)
    expect(await two.inspect()).toMatchObject({ arrived: 0 })
  })

  test('close() ends the wait, and the party leaves', async () => {
    const two = barrierOf()
    const client = newClient()
    const waiting = client.getCyclicBarrier(name).await({ parties: 2 })
    waiting.catch(() => undefined)
    await arrived(two, 1)
    expect(client.held().waiting).toMatchObject([{ name, kind: 'barrier', waitMs: null }])
    await client.close()
    await expect(waiting).rejects.toThrow(ClosedError)
    await arrived(two, 0)
    await expect(client.getCyclicBarrier(name).await({ parties: 2 })).rejects.toThrow(ClosedError)
  })

  test('a party waits longer than its lease, because the client renews its arrival', async () => {
    const [one, two] = [barrierOf({ leaseMs: 3_000 }), barrierOf({ leaseMs: 3_000 })] as const
    const waiting = one.await({ parties: 2 })
    await arrived(two, 1)
    const { round } = await two.inspect()
    await never(async () => (await two.inspect()).round !== round, 4_000)
    expect(await within(2_000, two.await({ parties: 2 }))).toBe(true)
    expect(await within(2_000, waiting)).toBe(true)
  })

  test('a call for another number of parties is refused, and the round continues', async () => {
    const [one, two] = [barrierOf(), barrierOf()] as const
    const waiting = one.await({ parties: 2 })
    await arrived(two, 1)
    await expect(two.await({ parties: 3 })).rejects.toThrow(
      /this call is for 3 parties, and the present round is for 2/,
    )
    expect(await within(2_000, two.await({ parties: 2 }))).toBe(true)
    expect(await within(2_000, waiting)).toBe(true)
    // The next round may have another number.
    expect(await within(2_000, two.await({ parties: 1 }))).toBe(true)
  })

  test('a name of another kind is refused, in both directions', async () => {
    const client = newClient()
    const barrier = client.getCyclicBarrier(name)
    const lease = await client.getLock(name).lock()
    await expect(barrier.await({ parties: 2 })).rejects.toThrow(/a lock has this name/)
    await lease.release()
    const waiting = barrier.await({ parties: 2 })
    await arrived(barrier, 1)
    await expect(client.getLock(name).tryLock()).rejects.toThrow(/a cyclic barrier has this name/)
    await expect(client.getCountDownLatch(name).trySetCount(1)).rejects.toThrow(RedisRefusedError)
    expect(await within(2_000, barrier.await({ parties: 2 }))).toBe(true)
    await waiting
  })

  test.each<[string, unknown[]]>([
    ['no options', []],
    ['no number', [{}]],
    ['zero', [{ parties: 0 }]],
    ['a fraction', [{ parties: 1.5 }]],
    ['too many', [{ parties: 10_001 }]],
    ['another option', [{ parties: 2, leaseMs: 5 }]],
    ['no wait', [{ parties: 2, waitMs: 0 }]],
    ['a second argument', [{ parties: 2 }, 5]],
  ])('refuses %s', async (_, args) => {
    const barrier: Any = barrierOf()
    await expect(barrier.await(...args)).rejects.toThrow(InvalidArgumentError)
  })

  test('takes no argument beside the name', () => {
    const client: Any = newClient()
    expect(() => client.getCyclicBarrier(name, 3)).toThrow(/await\(\{ parties \}\)/)
    if (place === 'Redis') {
      const many = new Holdfast({ masters: [server.url, server.url, server.url] })
      atEnd(() => many.close(), { beforeCheck: true })
      expect(() => many.getCyclicBarrier(name)).toThrow(/its parties need one server/)
    }
  })
})
