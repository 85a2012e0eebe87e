import { Holdfast, type HoldfastLock, type Lease, type MultiLock } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { sharedServer } from '../support/redis-server.ts'

const server = sharedServer()

function newClient(): Holdfast {
  const client = new Holdfast({ redis: server.url })
  atEnd(() => client.close(), { beforeCheck: true })
  return client
}

type AnyLock = Pick<HoldfastLock | MultiLock, 'lock' | 'tryLock' | 'unlock' | 'isHeld'>

const KINDS: [string, (client: Holdfast) => AnyLock][] = [
  ['a lock', (client) => client.getLock('it')],
  ['a fair lock', (client) => client.getFairLock('it')],
  ['one side of a read-write lock', (client) => client.getReadWriteLock('it').writeLock()],
  [
    'a multi-lock',
    (client) => client.getMultiLock(client.getLock('it'), client.getLock('other')) as AnyLock,
  ],
]

beforeEach(() => jest.spyOn(process, 'emitWarning').mockReturnValue())
afterEach(() => jest.restoreAllMocks())

const nothing = (call: Promise<unknown>) => call.catch(() => null)

describe.each(KINDS)('%s that several tasks share', (_, lockOf) => {
  const ENDED = { code: 'HOLDFAST_LEASE_LOST', reason: 'forced' }

  /** The call of another task, which has failed or still waits. Each entry returns a function that ends this call. */
  const others: [string, (lock: AnyLock) => Promise<() => unknown>][] = [
    [
      'found the lock taken',
      async (lock) => {
        expect(await lock.tryLock()).toBeNull()
        return () => {}
      },
    ],
    [
      'gave up after its time',
      async (lock) => {
        expect(await lock.tryLock(400)).toBeNull()
        return () => {}
      },
    ],
    [
      'was aborted',
      async (lock) => {
        const abort = new AbortController()
        const waiting = nothing(lock.lock({ signal: abort.signal }))
        abort.abort()
        await waiting
        return () => {}
      },
    ],
    [
      'was refused before it began',
      async (lock) => {
        await expect(lock.lock({ signal: AbortSignal.abort() })).rejects.toThrow()
        return () => {}
      },
    ],
    [
      'had an invalid argument',
      async (lock) => {
        await expect(lock.lock(-1)).rejects.toThrow('-1')
        return () => {}
      },
    ],
    [
      'still waits',
      async (lock) => {
        const abort = new AbortController()
        const waiting = nothing(lock.lock({ signal: abort.signal }))
        return async () => {
          abort.abort()
          await ((await waiting) as Lease | null)?.release()
        }
      },
    ],
  ]

  test.each(others)(
    'when another call %s, its `unlock()` ends the lease, and errors report this to both tasks',
    async (__, call) => {
      const lock = lockOf(newClient())
      const lease = await lock.lock()
      const listener = jest.fn()
      lease.signal.addEventListener('abort', listener)
      const end = await call(lock)
      expect(lease.signal.aborted).toBe(false)

      await lock.unlock()
      expect(lease.signal.reason).toMatchObject({ ...ENDED, lockName: 'it' })
      expect((lease.signal.reason as Error).message).toMatch(
        /token \d+\) was ended by an unlock\(\).*under way or failed.*another task.*release\(\)/,
      )
      expect(listener).toHaveBeenCalledTimes(1)
      expect(() => lease.assertValid()).toThrow(expect.objectContaining(ENDED))
      expect(await lease.release()).toBe(false)
      await end()
      const late = (await lock.unlock().catch((error) => error)) as Error
      expect(late).toMatchObject({ code: 'HOLDFAST_NOT_HELD' })
      expect(late.message).toMatch(
        new RegExp(
          `unlock\\(\\) .* ended the lease with token ${lease.token}, \\d+ ms ago.*another task's`,
        ),
      )
      const later = (await lock.unlock().catch((error) => error)) as Error
      expect(later.message).not.toContain(`token ${lease.token}`)
    },
  )

  test('after calls one after another, `unlock()` releases its own lease', async () => {
    const [client, far] = [newClient(), newClient()]
    const lock = lockOf(client)
    const theirs = (await lockOf(far).lock()) as Lease
    expect(await lock.tryLock()).toBeNull()
    expect(await lock.tryLock(400)).toBeNull()
    await nothing(lock.lock({ signal: AbortSignal.timeout(10) }))
    await nothing(lock.lock(-1))
    await theirs.release()
    for (const locking of [() => lock.lock(), () => lock.tryLock(5_000), () => lock.lock(9_000)]) {
      const lease = (await locking()) as Lease
      await lock.unlock()
      expect([lease.signal.aborted, await lease.release()]).toEqual([false, true])
    }
    await expect(lock.unlock()).rejects.toMatchObject({ code: 'HOLDFAST_NOT_HELD' })
  })

  test('the end of an `await using` block reports the `unlock()` of another task', async () => {
    const lock = lockOf(newClient())
    const work = async () => {
      await using lease = await lock.lock()
      expect(await lock.tryLock()).toBeNull()
      await lock.unlock()
      expect(lease.valid).toBe(false)
    }
    const error = await work().catch((one) => one)
    for (const each of error.errors ?? [error]) expect(each).toMatchObject(ENDED)
    expect(error).toBeInstanceOf(Error)
  })

  test('a late `unlock()`, after the `unlock()` of another task, does not end a later lease silently', async () => {
    const lock = lockOf(newClient())
    const first = await lock.lock()
    expect(await lock.tryLock()).toBeNull()
    await lock.unlock() // by the task that got nothing
    const second = await lock.lock()
    await lock.unlock() // by the first task, in its `finally`
    expect([first.signal.aborted, second.signal.aborted]).toEqual([true, true])
    await expect(lock.unlock()).rejects.toThrow(`ended the lease with token ${second.token}`)
    const third = await lock.lock()
    await lock.unlock()
    expect(third.signal.aborted).toBe(false)
  })

  test('tasks that use `release()` in turn end only their own leases', async () => {
    const lock = lockOf(newClient())
    const signals: AbortSignal[] = []
    await Promise.all(
      [1, 2, 3].map(async () => {
        const lease = await lock.lock()
        signals.push(lease.signal)
        expect(await lease.release()).toBe(true)
      }),
    )
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false, false])
    const last = await lock.lock()
    await lock.unlock()
    expect(last.signal.aborted).toBe(false)
    await eventually(async () => !(await lock.isHeld()))
  })
})
