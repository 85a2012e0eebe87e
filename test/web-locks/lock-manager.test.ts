import { setTimeout as pause } from 'node:timers/promises'
import {
  ClosedError,
  Holdfast,
  InvalidArgumentError,
  type WebLock,
  type WebLockManager,
  type WebLockOptions,
} from '../../src/index.ts'
import { deferred } from '../support/deferred.ts'
import { eventually, never } from '../support/eventually.ts'
import { within } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import { type OptionsOfBoth, redisAndMemory } from '../support/redis-and-memory.ts'

// The tests of the web platform for this API, with several clients instead of frames and workers:
// https://github.com/web-platform-tests/wpt/tree/master/web-locks

const { server, places } = redisAndMemory()

const SHARED = { mode: 'shared' } as const
const IF_AVAILABLE = { ifAvailable: true } as const
const STEAL = { steal: true } as const

const nameOf = (error: unknown) => (error as Error).name

describe.each(places)('web locks on $place', ({ make }) => {
  afterEach(() => server.flush())

  const newClient = (options: OptionsOfBoth = {}) => {
    const client = make(options)
    atEnd(() => client.close(), { beforeCheck: true })
    return client
  }
  const newLocks = () => newClient().locks

  /** Requests the lock, and holds it until `release` is called. */
  async function hold(locks: WebLockManager, name: string, options: WebLockOptions = {}) {
    const [held, end] = [deferred<WebLock | null | undefined>(), deferred<void>()]
    const done = locks.request(name, options, (lock) => {
      held.resolve(lock)
      return end.promise
    })
    done.catch(() => held.resolve(undefined))
    const lock = await held.promise
    const release = async () => {
      end.resolve()
      await done
    }
    return { lock, done, release }
  }

  const isPending = (locks: WebLockManager, count = 1) =>
    eventually(async () => (await locks.query()).pending.length === count)

  describe('the arguments of request()', () => {
    // biome-ignore lint/suspicious/noExplicitAny: As callers without TypeScript write it.
    const anyLocks = () => newLocks() as any

    test.each<[string, unknown[]]>([
      ['no callback', ['it']],
      ['no callback after the options', ['it', {}]],
      ['null as the callback', ['it', null]],
      ['a text as the callback', ['it', {}, 'text']],
      ['options that are a text', ['it', 'text', () => {}]],
      ['another mode', ['it', { mode: 'foo' }, () => {}]],
      ['null as the mode', ['it', { mode: null }, () => {}]],
      ['another signal', ['it', { signal: {} }, () => {}]],
      ['a text as the signal', ['it', { signal: 'text' }, () => {}]],
    ])('%s is a TypeError', async (_, args) => {
      await expect(anyLocks().request(...args)).rejects.toBeInstanceOf(TypeError)
    })

    test.each<[string, unknown[]]>([
      ['a name that begins with -', ['-it', () => {}]],
      ['steal with ifAvailable', ['it', { ...STEAL, ...IF_AVAILABLE }, () => {}]],
      ['steal with the mode shared', ['it', { ...STEAL, ...SHARED }, () => {}]],
      [
        'a signal with ifAvailable',
        ['it', { ...IF_AVAILABLE, signal: new AbortController().signal }, () => {}],
      ],
      ['a signal with steal', ['it', { ...STEAL, signal: new AbortController().signal }, () => {}]],
    ])('%s is a NotSupportedError', async (_, args) => {
      const error = await anyLocks()
        .request(...args)
        .catch((failure: unknown) => failure)
      expect(error).toBeInstanceOf(DOMException)
      expect(error.name).toBe('NotSupportedError')
    })

    test('the name becomes a text, and unknown options are ignored', async () => {
      expect(await anyLocks().request(12, { other: 1 }, (lock: WebLock) => lock.name)).toBe('12')
    })
  })

  test('the callback receives the lock, with its name and its mode', async () => {
    const locks = newLocks()
    expect(await locks.request('it', (lock) => lock)).toEqual({ name: 'it', mode: 'exclusive' })
    expect(await locks.request('it', SHARED, (lock) => lock)).toEqual({
      name: 'it',
      mode: 'shared',
    })
  })

  test('the call resolves with the result of the callback, or rejects with its error', async () => {
    const locks = newLocks()
    expect(await locks.request('it', () => 123)).toBe(123)
    expect(await locks.request('it', async () => 456)).toBe(456)
    const throwing = () => {
      throw new Error('no')
    }
    await expect(locks.request('it', throwing)).rejects.toThrow('no')
    await expect(locks.request('it', async () => throwing())).rejects.toThrow('no')
    expect(await locks.request('it', IF_AVAILABLE, (lock) => lock?.name)).toBe('it')
  })

  test('an exclusive lock has one holder, over all clients', async () => {
    const [one, other] = [newLocks(), newLocks()]
    const first = await hold(one, 'it')
    const order: number[] = []
    const second = other.request('it', () => void order.push(2))
    await isPending(other)
    await never(() => order.length > 0, 50)
    order.push(1)
    await first.release()
    await second
    expect(order).toEqual([1, 2])
  })

  test('shared locks have several holders, and exclude an exclusive lock', async () => {
    const [one, other] = [newLocks(), newLocks()]
    const held = [await hold(one, 'it', SHARED), await hold(other, 'it', SHARED)]
    expect(await one.request('it', IF_AVAILABLE, (lock) => lock)).toBeNull()
    const exclusive = hold(other, 'it')
    await isPending(other)
    for (const { release } of held) await release()
    const { release } = await exclusive
    expect(await one.request('it', { ...SHARED, ...IF_AVAILABLE }, (lock) => lock)).toBeNull()
    await release()
  })

  test('a nested request for the same lock waits, even in one client', async () => {
    const locks = newLocks()
    await locks.request('it', async () => {
      expect(await locks.request('it', IF_AVAILABLE, (lock) => lock)).toBeNull()
      expect(await locks.request('other', (lock) => lock?.name)).toBe('other')
    })
  })

  test('different names are different locks', async () => {
    const locks = newLocks()
    const names = ['a', 'b', '\u{1F512}', ' ', 'a:b', 'A']
    const held = await Promise.all(names.map((name) => hold(locks, name)))
    expect((await locks.query()).held.map(({ name }) => name).sort()).toEqual([...names].sort())
    for (const { release } of held) await release()
  })

  test('ifAvailable calls the callback with null, and its error rejects the call', async () => {
    const [one, other] = [newLocks(), newLocks()]
    const { release } = await hold(one, 'it')
    expect(await other.request('it', IF_AVAILABLE, (lock) => lock)).toBeNull()
    const failing = other.request('it', IF_AVAILABLE, async () => {
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect((await other.query()).pending).toEqual([])
    await release()
  })

  test('an aborted signal ends the wait with its reason, and does not end a held lock', async () => {
    const [one, other] = [newLocks(), newLocks()]
    const { release } = await hold(one, 'it')
    const abort = new AbortController()
    const waiting = other.request('it', { signal: abort.signal }, () => 1)
    await isPending(other)
    abort.abort('my dog ate it')
    await expect(waiting).rejects.toBe('my dog ate it')
    await release()
    const early = other.request('it', { signal: AbortSignal.abort('early') }, () => 1)
    await expect(early).rejects.toBe('early')
    const late = new AbortController()
    const result = await other.request('it', { signal: late.signal }, async () => {
      late.abort('late')
      await pause(20)
      return 'done'
    })
    expect(result).toBe('done')
  })

  test('steal takes an exclusive lock, and the call of the old holder rejects with an AbortError', async () => {
    const [one, other] = [newLocks(), newLocks()]
    const robbed = await hold(one, 'it')
    const failure = robbed.done.catch((error: unknown) => error)
    // A call of the same client loses the lock at once.
    expect(await one.request('it', STEAL, (lock) => lock?.mode)).toBe('exclusive')
    expect(nameOf(await within(2_000, failure))).toBe('AbortError')
    expect(await other.request('it', IF_AVAILABLE, (lock) => lock?.name)).toBe('it')
  })

  test('steal takes shared locks too, and the next call gets the lock after the release', async () => {
    const [one, other] = [newLocks(), newLocks()]
    const shared = [await hold(one, 'it', SHARED), await hold(one, 'it', SHARED)]
    const failures = shared.map(({ done }) => done.catch((error: unknown) => error))
    const thief = await hold(one, 'it', STEAL)
    for (const failure of failures) expect(nameOf(await within(2_000, failure))).toBe('AbortError')
    const next = hold(other, 'it')
    await isPending(other)
    await thief.release()
    await (await next).release()
  })

  test('a stolen lock can be stolen again, and the error of a callback is the cause of the loss', async () => {
    const locks = newLocks()
    const thief = await hold(locks, 'it', STEAL)
    const failure = thief.done.catch((error: unknown) => error)
    expect(await locks.request('it', STEAL, () => 1)).toBe(1)
    expect(nameOf(await within(2_000, failure))).toBe('AbortError')
    const other = newLocks()
    const robbed = other.request('it', async () => {
      expect(await locks.request('it', STEAL, () => 2)).toBe(2)
      throw new Error('no')
    })
    const error = (await robbed.catch((reason: unknown) => reason)) as Error
    expect(error.name).toBe('AbortError')
    expect(String(error.cause)).toContain('no')
  })

  test('a client notices that another client has stolen its lock', async () => {
    const [one, other] = [newClient({ leaseMs: 300 }).locks, newLocks()]
    const robbed = await hold(one, 'it')
    const failure = robbed.done.catch((error: unknown) => error)
    const thief = await hold(other, 'it', STEAL)
    const error = await within(5_000, failure)
    expect(nameOf(error)).toBe('AbortError')
    expect((error as Error).cause).toBeInstanceOf(Error)
    await thief.release()
  })

  test('query() lists the locks of this client, held and pending in order', async () => {
    const client = newClient()
    const { locks, id: clientId } = client
    expect(await locks.query()).toEqual({ held: [], pending: [] })
    const first = await hold(locks, 'a')
    const second = await hold(locks, 'b', SHARED)
    const pending = [hold(locks, 'a', SHARED), hold(locks, 'a')]
    await isPending(locks, 2)
    expect(await locks.query()).toEqual({
      held: [
        { name: 'a', mode: 'exclusive', clientId },
        { name: 'b', mode: 'shared', clientId },
      ],
      pending: [
        { name: 'a', mode: 'shared', clientId },
        { name: 'a', mode: 'exclusive', clientId },
      ],
    })
    await first.release()
    await second.release()
    for (const one of pending) await (await one).release()
    expect(await locks.query()).toEqual({ held: [], pending: [] })
  })

  test('a web lock is the read-write lock of its name', async () => {
    const client = newClient()
    const { release } = await hold(client.locks, 'it')
    const { mode, holders } = await newClient().getReadWriteLock('it').inspect()
    expect(mode).toBe('write')
    expect(holders[0]?.owner).toContain(client.id)
    await release()
  })

  test('close() ends pending and held requests', async () => {
    const [client, other] = [newClient(), newLocks()]
    const blocker = await hold(other, 'a')
    const waiting = client.locks.request('a', () => 1).catch((error: unknown) => error)
    const held = await hold(client.locks, 'b')
    const ended = held.done.catch((error: unknown) => error)
    await isPending(client.locks)
    await client.close()
    expect(await waiting).toBeInstanceOf(ClosedError)
    const error = await ended
    expect(nameOf(error)).toBe('AbortError')
    expect((error as Error).cause).toBeInstanceOf(ClosedError)
    await blocker.release()
  })
})

test('a client with independent masters refuses web locks', async () => {
  const client = new Holdfast({ masters: ['redis://127.0.0.1:1', 'redis://127.0.0.1:2'] })
  atEnd(() => client.close(), { beforeCheck: true })
  await expect(client.locks.request('it', () => 1)).rejects.toBeInstanceOf(InvalidArgumentError)
})
