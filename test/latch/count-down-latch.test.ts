import {
  ClosedError,
  type CountDownLatch,
  Holdfast,
  InvalidArgumentError,
  RedisRefusedError,
} from '../../src/index.ts'
import { eventually, never } from '../support/eventually.ts'
import { outcome, within } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import { takes } from '../support/takes.ts'
import { describeWorlds } from '../support/worlds.ts'

/** Resolves when this number of clients waits for the latch. */
const awaited = (latch: CountDownLatch, clients = 1) =>
  eventually(async () => (await latch.inspect()).waiters === clients)

const isSettled = (promise: Promise<unknown>) => {
  const seen = { settled: false }
  const settle = () => {
    seen.settled = true
  }
  promise.then(settle, settle)
  return seen
}

// biome-ignore lint/suspicious/noExplicitAny: As callers without TypeScript write it.
type Any = any

describeWorlds('a count-down latch', (world) => {
  const latchOf = (client = world.newClient()) => client.getCountDownLatch('ready')

  test('opens for all waiters of all clients when its count reaches zero', async () => {
    const [latch, other, third] = [latchOf(), latchOf(), latchOf()]
    expect(await latch.trySetCount(3)).toBe(true)
    const waiting = [latch.await(), latch.await(), other.await(), third.await({ waitMs: 60_000 })]
    const seen = waiting.map(isSettled)
    await awaited(latch, 3)
    expect(await other.countDown()).toBe(2)
    expect(await other.countDown()).toBe(1)
    expect(await third.count()).toBe(1)
    expect(await third.inspect()).toMatchObject({ count: 1, waiters: 3 })
    await never(() => seen.some(({ settled }) => settled), 100)
    expect(await third.countDown()).toBe(0)
    expect(await within(2_000, Promise.all(waiting))).toEqual([true, true, true, true])
    await awaited(latch, 0)
    expect(await latch.inspect()).toEqual({ count: 0, waiters: 0, round: null })
    expect(await world.server.admin.exists(world.rawName('ready'))).toBe(0)
  })

  test('is open if its count was never set, and stays open after a count-down', async () => {
    const latch = latchOf()
    expect(await latch.await()).toBe(true)
    expect(await latch.await({ waitMs: 60_000 })).toBe(true)
    expect(await latch.countDown()).toBe(0)
    expect(await latch.count()).toBe(0)
    expect(await latch.delete()).toBe(false)
    expect(await world.server.admin.exists(world.rawName('ready'))).toBe(0)
  })

  test('accepts one `trySetCount()` for each round', async () => {
    const [latch, other] = [latchOf(), latchOf()]
    const all = await Promise.all([latch, other, latch].map((one) => one.trySetCount(2)))
    expect(all.filter((isSet) => isSet)).toEqual([true])
    await Promise.all([latch.countDown(), other.countDown()])
    expect(await other.trySetCount(1)).toBe(true)
    expect(await other.trySetCount(1)).toBe(false)
    expect(await other.countDown()).toBe(0)
  })

  test('a wait returns false when its time is up, and other waits continue', async () => {
    const latch = latchOf()
    await latch.trySetCount(1)
    const waiting = latch.await()
    expect(await takes({ atLeast: 490 }, () => latch.await({ waitMs: 500 }))).toBe(false)
    await latch.countDown()
    expect(await within(2_000, waiting)).toBe(true)
  })

  test('an abort ends a wait at once, even before the wait begins, and leaves nothing behind', async () => {
    const latch = latchOf()
    await latch.trySetCount(1)
    const abort = new AbortController()
    const waiting = outcome(latch.await({ signal: abort.signal, waitMs: 60_000 }))
    await awaited(latch)
    abort.abort('enough')
    expect((await waiting).error).toBe('enough')
    expect((await outcome(latch.await({ signal: abort.signal }))).error).toBe('enough')
    await awaited(latch, 0)
    await latch.delete()
  })

  test('opens when it is deleted', async () => {
    const [latch, other] = [latchOf(), latchOf()]
    await latch.trySetCount(2)
    const waiting = [latch.await(), other.await()]
    await awaited(latch, 2)
    expect(await latch.delete()).toBe(true)
    expect(await within(2_000, Promise.all(waiting))).toEqual([true, true])
    expect(await latch.delete()).toBe(false)
  })

  test('waiters of a round continue even when the next round begins at once', async () => {
    const [latch, other] = [latchOf(), latchOf()]
    await latch.trySetCount(1)
    const waiting = latch.await()
    await awaited(latch)
    await Promise.all([other.countDown(), other.trySetCount(5)])
    expect(await within(2_000, waiting)).toBe(true)
    const next = latch.await()
    const { settled } = isSettled(next)
    await awaited(latch)
    expect(settled).toBe(false)
    await latch.delete()
    expect(await within(2_000, next)).toBe(true)
  })

  test('`inspect()` returns a number that rises with each round, and null if the latch is open', async () => {
    const latch = latchOf()
    const rounds: number[] = []
    for (let n = 0; n < 5; n++) {
      expect((await latch.inspect()).round).toBeNull()
      await latch.trySetCount(2)
      await latch.countDown()
      const { round } = await latch.inspect()
      rounds.push(round as number)
      expect((await latchOf().inspect()).round).toBe(round)
      await latch.countDown()
    }
    expect(rounds.every(Number.isSafeInteger)).toBe(true)
    expect(rounds).toEqual([...new Set(rounds)].sort((a, b) => a - b))
  })

  test('a `countDown()` and a `delete()` for one round change only that round', async () => {
    const latch = latchOf()
    const begin = async (count: number) => {
      expect(await latch.trySetCount(count)).toBe(true)
      return (await latch.inspect()).round as number
    }
    const first = await begin(2)
    expect(await latch.countDown({ round: first })).toBe(1)
    expect(await latch.countDown({ round: first })).toBe(0)
    // The latch is open now.
    expect(await latch.countDown({ round: first })).toBeNull()
    expect(await latch.delete({ round: first })).toBe(false)
    const second = await begin(2)
    expect(await latch.countDown({ round: first })).toBeNull()
    expect(await latch.delete({ round: first })).toBe(false)
    expect(await latch.count()).toBe(2)
    expect(await latch.countDown({ round: second })).toBe(1)
    expect(await latch.delete({ round: second })).toBe(true)
    expect(await latch.count()).toBe(0)
  })

  test('`await()` for one round returns at the end of that round, even in a later round', async () => {
    const [latch, other] = [latchOf(), latchOf()]
    await other.trySetCount(1)
    const round = (await other.inspect()).round as number
    // Connects the client before the wait with a time limit starts.
    await latch.count()
    const waiting = latch.await({ round })
    const late = latch.await({ round, waitMs: 800 })
    const { settled } = isSettled(waiting)
    await awaited(other)
    expect(await late).toBe(false)
    expect(settled).toBe(false)
    await Promise.all([other.countDown(), other.trySetCount(3)])
    expect(await within(2_000, waiting)).toBe(true)
    expect(await within(2_000, latch.await({ round }))).toBe(true)
    expect(await latch.await({ waitMs: 500 })).toBe(false)
    await other.delete()
    expect(await within(2_000, latch.await({ round }))).toBe(true)
  })

  test('a `waitMs` of Infinity waits until the latch opens', async () => {
    const latch = latchOf()
    await latch.trySetCount(1)
    const waiting = latch.await({ waitMs: Infinity })
    const seen = isSettled(waiting)
    await never(() => seen.settled, 100)
    await latch.countDown()
    expect(await within(2_000, waiting)).toBe(true)
  })

  test('its waiters continue when their own client opens it and sets it again at once', async () => {
    const latch = latchOf()
    await latch.trySetCount(1)
    const waiting = [latch.await(), latch.await()]
    await Promise.all([latch.countDown(), latch.trySetCount(4)])
    expect(await within(2_000, Promise.all(waiting))).toEqual([true, true])
    await latch.delete()
  })

  test('`close()` rejects the waits and all later calls of its client with a `ClosedError`', async () => {
    const [client, other] = [world.newClient(), world.newClient()]
    const [latch, theirs] = [latchOf(client), latchOf(other)]
    await latch.trySetCount(1)
    const waiting = [outcome(latch.await()), outcome(latch.await({ waitMs: 60_000 }))]
    await awaited(theirs)
    await client.close()
    for (const { error } of await Promise.all(waiting)) expect(error).toBeInstanceOf(ClosedError)
    const calls = [
      () => latch.await(),
      () => latch.countDown(),
      () => latch.trySetCount(1),
      () => latch.delete(),
      () => latch.count(),
      () => latch.inspect(),
    ]
    for (const call of calls) await expect(call()).rejects.toThrow(ClosedError)
    await awaited(theirs, 0)
    expect(await theirs.countDown()).toBe(0)
  })

  test('a latch refuses the name of a lock, and a lock refuses the name of a latch', async () => {
    const client = world.newClient()
    const lease = await client.getLock('ready').lock()
    const latch = latchOf(client)
    const calls = [latch.trySetCount(1), latch.countDown(), latch.await(), latch.delete()]
    for (const { error } of await Promise.all(calls.map((call) => outcome<unknown>(call)))) {
      expect(error).toBeInstanceOf(RedisRefusedError)
      expect(String(error)).toMatch(/Latch "ready": .*WRONGTYPE/)
    }
    await lease.release()
    await latch.trySetCount(1)
    for (const lock of [client.getLock('ready'), client.getReadWriteLock('ready').writeLock()]) {
      await expect(lock.tryLock()).rejects.toThrow(RedisRefusedError)
    }
    await latch.delete()
  })
})

describe('invalid input is refused', () => {
  const client = () => {
    const one = new Holdfast({ redis: 'redis://127.0.0.1:1' })
    atEnd(() => one.close(), { beforeCheck: true })
    return one
  }

  test.each<[unknown, string]>([
    [undefined, 'got undefined'],
    ['', 'got ""'],
    [17, 'got 17'],
    ['a{b', 'The latch name "a{b" has a broken {tag}'],
    ['half \ud83d', 'surrogate'],
  ])('the name %p', (name, words) => {
    const get = () => client().getCountDownLatch(name as string)
    expect(get).toThrow(InvalidArgumentError)
    expect(get).toThrow(words)
  })

  test.each<[unknown, string]>([
    [undefined, 'got undefined'],
    [0, 'got 0'],
    [-1, 'got -1'],
    [1.5, 'got 1.5'],
    [Number.NaN, 'got NaN'],
    [Infinity, 'got Infinity'],
    [2 ** 53, 'got 9007199254740992'],
    ['3', 'got "3"'],
    [3n, 'got 3'],
  ])('the count %p', async (count, words) => {
    const { error } = await outcome(
      client()
        .getCountDownLatch('it')
        .trySetCount(count as number),
    )
    expect(error).toBeInstanceOf(InvalidArgumentError)
    expect(String(error)).toContain('Latch "it"')
    expect(String(error)).toContain(words)
  })

  test.each<[string, (latch: Any) => Promise<unknown>, string]>([
    ['a wait that is no option', (latch) => latch.await(500), 'got 500'],
    ['a wait of 0', (latch) => latch.await({ waitMs: 0 }), 'got 0'],
    ['a wait of NaN', (latch) => latch.await({ waitMs: Number.NaN }), 'got NaN'],
    ['one more argument', (latch) => latch.await({}, 500), 'got 500'],
    ['an option of locks', (latch) => latch.await({ leaseMs: 5 }), '`leaseMs`'],
    ['an invalid signal', (latch) => latch.await({ signal: 'now' }), 'got "now"'],
    ['a step', (latch) => latch.countDown(2), 'got 2'],
    ['a null round', (latch) => latch.countDown({ round: null }), 'got null'],
    ['a round that is missing', (latch) => latch.countDown({}), 'got undefined'],
    ['a round below 1', (latch) => latch.delete({ round: 0 }), 'got 0'],
    ['a fractional round of `await()`', (latch) => latch.await({ round: 1.5 }), 'got 1.5'],
    ['a step with a round', (latch) => latch.countDown({ round: 1 }, 2), 'got 2'],
    ['another option', (latch) => latch.countDown({ count: 2 }), '`count`'],
    ['a unit of time', (latch) => latch.trySetCount(1, 'SECONDS'), 'got "SECONDS"'],
  ])('%s', async (_, call, words) => {
    const { error } = await outcome(call(client().getCountDownLatch('it')))
    expect(error).toBeInstanceOf(InvalidArgumentError)
    expect(String(error)).toContain(words)
  })

  test('a latch of independent masters', () => {
    const one = new Holdfast({ masters: ['redis://127.0.0.1:1', 'redis://127.0.0.1:2'] })
    atEnd(() => one.close(), { beforeCheck: true })
    const get = () => one.getCountDownLatch('it')
    expect(get).toThrow(InvalidArgumentError)
    expect(get).toThrow(
      'Latch "it": its count needs one server, and this client has independent masters',
    )
  })
})
