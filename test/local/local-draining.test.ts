import { type Holdfast, type HoldfastLock, InvalidArgumentError } from '../../src/index.ts'
import { deferred } from '../support/deferred.ts'
import { eventually } from '../support/eventually.ts'
import { faultRig, outcome, SHA } from '../support/fault-rig.ts'
import { leaves } from '../support/leaks.ts'
import { takes } from '../support/takes.ts'

const rig = faultRig()
const LONG = { drainMs: 60_000 }
const CLOSED = { code: 'HOLDFAST_CLOSED' }

/** Work that continues until `end()`; `begun` resolves when it has its lock. */
function work() {
  const begun = deferred<void>()
  const end = deferred<void>()
  const run = async (): Promise<string> => {
    begun.resolve()
    await end.promise
    return 'finished'
  }
  return { run, begun: begun.promise, end: () => end.resolve() }
}

/** Shows if the client has closed. */
function watched(closing: Promise<unknown>): { isOver: boolean } {
  const watch = { isOver: false }
  const over = () => {
    watch.isOver = true
  }
  closing.then(over, over)
  return watch
}

/** Makes some round trips, which only an open client completes. */
async function aMoment(client: Holdfast): Promise<void> {
  for (let i = 0; i < 3; i++) await client.getLock('of nobody').isLocked()
}

describe('`close({ drainMs })` waits for work with', () => {
  const kinds: Record<string, (client: Holdfast, run: () => Promise<string>) => Promise<unknown>> =
    {
      'a lock': (client, run) => client.getLock('it').using(run),
      'a lock with a fixed lease': (client, run) =>
        client.getLock('it').using(run, { leaseMs: 20_000 }),
      'a fair lock': (client, run) => client.getFairLock('it').using(run),
      'a read lock': (client, run) => client.getReadWriteLock('it').readLock().using(run),
      'a write lock': (client, run) => client.getReadWriteLock('it').writeLock().using(run),
      'an upgradable lock': (client, run) =>
        client.getReadWriteLock('it').upgradableLock().using(run),
      'several locks': (client, run) =>
        client.getMultiLock(client.getLock('it'), client.getFairLock('b')).using(run),
      'permits with a lease': (client, run) =>
        client.getPermitExpirableSemaphore('it').using(run, { permits: 2 }),
      'permits without a lease': (client, run) => client.getSemaphore('it').using(run),
    }

  test.each(Object.entries(kinds))('%s', async (kind, use) => {
    const client = rig.client()
    if (kind.startsWith('permits with a')) {
      await client.getPermitExpirableSemaphore('it').trySetPermits(2)
      leaves({ keys: true, why: 'a semaphore stays' })
    } else if (kind.startsWith('permits')) {
      await client.getSemaphore('it').trySetPermits(1)
      leaves({ keys: true, why: 'a semaphore stays' })
    }
    const { run, begun, end } = work()
    const used = use(client, run)
    await begun
    const late = outcome(use(client, run))
    const closing = client.close(LONG)
    expect((await late).error).toMatchObject(CLOSED)
    expect((await outcome(use(client, run))).error).toMatchObject(CLOSED)
    const watch = watched(closing)
    await aMoment(client)
    expect(watch.isOver).toBe(false)
    end()
    expect(await used).toBe('finished')
    expect(await closing).toEqual([])
  })
})

describe('a client that drains', () => {
  test('lets its holders read inside an upgradable lock, upgrade it, and re-enter a lock', async () => {
    const client = rig.client()
    const both = client.getReadWriteLock('it')
    const plain = client.getLock('plain')
    const inside = work()
    const done = both.upgradableLock().using(() =>
      plain.using(async () => {
        await inside.run()
        return both.writeLock().using(() => both.readLock().using(() => plain.using(() => 'done')))
      }),
    )
    await inside.begun
    const closing = client.close(LONG)
    inside.end()
    expect(await done).toBe('done')
    expect(await closing).toEqual([])
  })

  test('acquires none of several locks if one of them is new', async () => {
    const client = rig.client()
    const { run, begun, end } = work()
    const a = client.getLock('a')
    const used = a.using(async () => {
      await run()
      return outcome(client.getMultiLock(a, client.getLock('b')).lock())
    })
    await begun
    const closing = client.close(LONG)
    end()
    expect((await used).error).toMatchObject(CLOSED)
    expect(await closing).toEqual([])
    expect(await rig.exists('a')).toBe(false)
    expect(await rig.exists('b')).toBe(false)
  })

  test('renews its leases', async () => {
    const client = rig.client({ leaseMs: 3_000 })
    const lease = await client.getLock('it').lock()
    let renewals = 0
    client.on('renewed', () => {
      renewals += 1
    })
    const closing = client.close(LONG)
    await eventually(() => renewals > 3)
    expect(lease.valid).toBe(true)
    await lease.release()
    expect(await closing).toEqual([])
  })

  test('waits for an unreleased fixed lease only until the lease ends', async () => {
    const client = rig.client()
    await client.getLock('it').lock(300)
    expect(await client.close(LONG)).toEqual([])
  })

  test('lets work check a lock, count a latch down, await the latch, and release permits', async () => {
    const client = rig.client()
    const latch = client.getCountDownLatch('latch')
    const semaphore = client.getSemaphore('it')
    await latch.trySetCount(1)
    await semaphore.trySetPermits(1)
    leaves({ keys: true, why: 'a semaphore stays' })
    await semaphore.acquire()
    const { run, begun, end } = work()
    const used = client.getLock('lock').using(async () => {
      await run()
      const opened = latch.await()
      await latch.countDown()
      await semaphore.release()
      return [await opened, await client.getLock('lock').isHeld()]
    })
    await begun
    const closing = client.close(LONG)
    end()
    expect(await used).toEqual([true, true])
    expect(await closing).toEqual([])
    expect(await rig.witness().getSemaphore('it').availablePermits()).toBe(1)
  })

  test('ends the term of its leader and the wait of its candidate', async () => {
    const client = rig.client()
    const { run, begun, end } = work()
    const reasons: unknown[] = []
    const first = client.getLeaderElection('it')
    const led = first.lead(
      async ({ signal }) => {
        signal.addEventListener('abort', () => reasons.push(signal.reason))
        return run()
      },
      { again: true },
    )
    await begun
    const waiting = outcome(client.getLeaderElection('it').lead(() => {}, { again: true }))
    const theirs = work()
    const next = rig.witness().getLeaderElection('it').lead(theirs.run)
    await rig.queued('it', 2)
    const closing = client.close(LONG)
    expect(reasons).toMatchObject([CLOSED])
    expect(first.isLeading).toBe(false)
    expect((await waiting).error).toMatchObject(CLOSED)
    const watch = watched(closing)
    await aMoment(client)
    expect(watch.isOver).toBe(false)
    end()
    expect(await led).toBe('finished')
    expect(await closing).toEqual([])
    await theirs.begun
    theirs.end()
    await next
  })
})

describe('a second `close()`', () => {
  test.each([
    ['without `drainMs` ends the drain at once', undefined],
    ['with a shorter `drainMs` ends the drain after that time', { drainMs: 20 }],
  ])('%s', async (_, options) => {
    const client = rig.client({ commandTimeoutMs: 5_000 })
    const { name, owner, token } = await client.getLock('it').lock()
    const closing = client.close(LONG)
    expect(client.close({ drainMs: 120_000 })).toBe(closing)
    expect(client.close(options)).toBe(closing)
    expect(await closing).toMatchObject([{ name, owner, token }])
    expect(await rig.exists('it')).toBe(false)
    expect(client.close(LONG)).toBe(closing)
  })
})

describe('a drain with a fault', () => {
  test.each(['cutBefore', 'cutAfter'] as const)(
    'waits for a last release that meets `%s`',
    async (action) => {
      const client = rig.client()
      const lease = await client.getLock('it').lock()
      const closing = client.close(LONG)
      rig.proxy.onNextRequest(SHA.release, action)
      expect(await lease.release()).toBe(true)
      expect(await closing).toEqual([])
      expect(await rig.exists('it')).toBe(false)
    },
  )

  test.each(['cutBefore', 'cutAfter'] as const)(
    'releases an acquisition that meets `%s` when the drain begins',
    async (action) => {
      const client = rig.client({ commandTimeoutMs: 1_000 })
      await aMoment(client)
      const trap = rig.proxy.onNextRequest(SHA.acquire, action)
      const acquiring = outcome(client.getLock('it').lock())
      await trap.seen
      const closing = client.close(LONG)
      expect((await acquiring).error).toMatchObject(CLOSED)
      expect(await closing).toEqual([])
      expect(await rig.exists('it')).toBe(false)
    },
  )

  test('waits in an outage for about `drainMs` and twice `commandTimeoutMs`', async () => {
    const client = rig.client()
    const { name, owner, token, signal } = await client.getLock('it').lock()
    rig.proxy.blackHole({ onHeal: 'drop' })
    // `close()` promises to end after 700 ms. The lease would last 10 s, and its release could take 4 s.
    const closing = () => client.close({ drainMs: 300 })
    const left = await takes({ atLeast: 290, atMost: 2_000 }, closing)
    expect(left).toMatchObject([{ name, owner, token }])
    expect(signal.aborted).toBe(true)
    leaves({ keys: true, why: 'the release was lost in the outage' })
  })

  test('does not list a lease that is lost during the drain', async () => {
    const client = rig.client({ leaseMs: 300 })
    const lost: unknown[] = []
    client.on('lost', ({ name }) => lost.push(name))
    await client.getLock('it').lock()
    const closing = client.close(LONG)
    await rig.server.admin.del('it')
    expect(await closing).toEqual([])
    expect(lost).toEqual(['it'])
  })
})

test('a client that holds nothing, or was never connected, drains at once', async () => {
  const idle = rig.client()
  expect(await idle.close(LONG)).toEqual([])
  const used = rig.client()
  await used.getLock('it').using(() => {})
  expect(await used.close(LONG)).toEqual([])
})

test.each([
  [{ drainMs: 0 }, /`drainMs` must be a positive .*got 0\. To release .* leave it out/],
  [{ drainMs: -1 }, /got -1/],
  [{ drainMs: 1.5 }, /got 1\.5/],
  [{ drainMs: 2 ** 31 }, /at most 2147483647; got 2147483648/],
  [{ drainMs: '5000' }, /got "5000"/],
  [{ drain: 5_000 }, /no option `drain` here. There are: drainMs/],
  [5_000, /must be an object with `drainMs`; got 5000/],
  [null, /got null/],
])('`close(%j)` is refused, and closes nothing', async (options, message) => {
  const client = rig.client()
  const lock: HoldfastLock = client.getLock('it')
  const closing = client.close(options as never)
  await expect(closing).rejects.toBeInstanceOf(InvalidArgumentError)
  await expect(closing).rejects.toThrow(message)
  await lock.using(() => {})
})
