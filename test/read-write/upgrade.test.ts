import type { Lease, UpgradableLease } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { Diary, faultRig, granted, outcome, within } from '../support/fault-rig.ts'
import { bothPlaces } from './read-write-places.ts'

const rig = faultRig()
const places = bothPlaces(rig)

const isSettled = (promise: Promise<unknown>) => {
  const seen = { settled: false }
  const settle = () => {
    seen.settled = true
  }
  promise.then(settle, settle)
  return seen
}

describe.each(places)('%s', (_, newClient) => {
  const newLock = () => newClient().getReadWriteLock('it')

  test('an upgradable lease acquires the write lock outside any frame, and continues to read afterwards', async () => {
    const lock = newLock()
    const lease = await lock.upgradableLock().lock()
    const writing = await lease.upgrade()
    expect(writing.valid && lease.valid).toBe(true)
    expect((await lock.inspect()).mode).toBe('write')
    expect(await newLock().readLock().tryLock()).toBeNull()
    expect(await writing.release()).toBe(true)
    expect((await lock.inspect()).mode).toBe('read')
    await granted(await newLock().readLock().tryLock()).release()
    expect(await newLock().upgradableLock().tryLock()).toBeNull()
    expect(await lease.release()).toBe(true)
    expect(await lock.inspect()).toMatchObject({ mode: null, holders: [] })
  })

  test('each call that acquires the upgradable lock gives a lease with `upgrade()`', async () => {
    const client = newClient()
    const upgradable = client.getReadWriteLock('it').upgradableLock()
    const writes = async (lease: UpgradableLease | null) => {
      const writing = granted((await lease?.tryUpgrade()) ?? null)
      await writing.release()
      return 'written'
    }
    expect(await upgradable.using(writes)).toBe('written')
    expect(await upgradable.tryUsing(writes)).toBe('written')
    const owned = client.getReadWriteLock('it', { owner: client.owner() }).upgradableLock()
    const forms = [() => upgradable.tryLock(), () => owned.lock(), () => owned.tryLock(10_000)]
    for (const form of [...forms, () => client.run(() => upgradable.lock())]) {
      await using lease = await form()
      expect(await writes(lease)).toBe('written')
    }
  })

  test('`upgrade()` waits for the readers of all clients, and blocks new readers', async () => {
    const lock = newLock()
    const lease = await lock.upgradableLock().lock()
    const others = [await lock.readLock().lock(), await newLock().readLock().lock()]
    const waiting = lease.upgrade()
    const seen = isSettled(waiting)
    await eventually(async () => (await lock.inspect()).waitingToWrite.length === 1)
    expect((await lock.inspect()).waitingToWrite[0]?.waitedMs).toBeNull()
    for (const one of [lock, newLock()]) expect(await one.readLock().tryLock()).toBeNull()
    for (const other of others) {
      expect(seen.settled).toBe(false)
      await other.release()
    }
    const writing = await within(5_000, waiting)
    await writing.release()
    await lease.release()
  })

  test('`tryUpgrade()` returns null while others read, at once or after its wait time', async () => {
    const lock = newLock()
    const lease = await lock.upgradableLock().lock()
    const reading = await newLock().readLock().lock()
    expect(await lease.tryUpgrade()).toBeNull()
    expect(await lease.tryUpgrade({ waitMs: 300 })).toBeNull()
    // The failed tries leave no waiter.
    await eventually(async () => (await lock.inspect()).waitingToWrite.length === 0)
    await granted(await newLock().readLock().tryLock()).release()
    expect(lease.valid).toBe(true)
    await reading.release()
    await granted(await lease.tryUpgrade()).release()
    await lease.release()
  })

  test('`upgrade()` accepts the options of `lock()`', async () => {
    const lock = newLock()
    const lease = await lock.upgradableLock().lock()
    const writing = await lease.upgrade({ leaseMs: 60_000 })
    expect(writing.remaining()).toBeGreaterThan(50_000)
    await writing.release()
    const reading = await newLock().readLock().lock()
    const timeout = await outcome(lease.upgrade({ waitMs: 500 }))
    expect(timeout.error).toMatchObject({ code: 'HOLDFAST_WAIT_TIMEOUT', lockName: 'it' })
    // The error names the reader, and not the lease of the upgrade.
    expect((timeout.error as Error).message).toContain(`held by`)
    expect((timeout.error as Error).message).not.toContain(lease.owner)
    const leaving = new AbortController()
    const aborted = outcome(lease.upgrade({ signal: leaving.signal }))
    await eventually(async () => (await lock.inspect()).waitingToWrite.length === 1)
    leaving.abort(new Error('enough'))
    expect((await aborted).error).toEqual(new Error('enough'))
    for (const options of [7, { leaseMs: -1 }, { waitMs: 0 }, { wait: 5 }] as never[]) {
      await expect(lease.upgrade(options)).rejects.toMatchObject({
        code: 'HOLDFAST_INVALID_ARGUMENT',
      })
    }
    await reading.release()
    await lease.release()
  })

  test('two upgrades of one lease are two acquisitions of one hold', async () => {
    const lock = newLock()
    const lease = await lock.upgradableLock().lock()
    const both = await Promise.all([lease.upgrade(), lease.upgrade()])
    expect(both[0]?.token).toBe(both[1]?.token)
    const { holders } = await lock.inspect()
    expect(holders.find(({ owner }) => owner === both[0]?.owner)?.holdCount).toBe(2)
    for (const writing of both) expect(await writing.release()).toBe(true)
    await lease.release()
  })

  test('`unlock()` in a frame releases the lease that `upgrade()` gave in that frame', async () => {
    const client = newClient()
    const lock = client.getReadWriteLock('it')
    await client.run(async () => {
      const lease = await lock.upgradableLock().lock()
      await lease.upgrade()
      await lock.writeLock().unlock()
      await lock.upgradableLock().unlock()
      expect(lease.valid).toBe(false)
    })
    expect((await lock.inspect()).mode).toBeNull()
  })

  test('a released lease cannot be upgraded, and the error says what to do', async () => {
    const lease = await newLock().upgradableLock().lock()
    await lease.release()
    const { error } = await outcome(lease.upgrade())
    expect(error).toMatchObject({ code: 'HOLDFAST_INVALID_ARGUMENT', lockName: 'it' })
    expect((error as Error).message).toMatch(
      /"it" was not upgraded: its upgradable lease was released.*acquire the upgradable lock again/,
    )
    await expect(lease.tryUpgrade()).rejects.toMatchObject({ code: 'HOLDFAST_INVALID_ARGUMENT' })
  })

  test('an upgrade that waits ends when its upgradable lease is released', async () => {
    const lock = newLock()
    const lease = await lock.upgradableLock().lock()
    const reading = await newLock().readLock().lock()
    const waiting = outcome(lease.upgrade())
    await eventually(async () => (await lock.inspect()).waitingToWrite.length === 1)
    await lease.release()
    const { error } = await within(5_000, waiting)
    expect(error).toMatchObject({ code: 'HOLDFAST_INVALID_ARGUMENT' })
    await eventually(async () => (await lock.inspect()).waitingToWrite.length === 0)
    await granted(await newLock().readLock().tryLock()).release()
    await reading.release()
  })

  test('a lost lease cannot be upgraded, and the error says what to do', async () => {
    const lease = await newLock().upgradableLock().lock(500)
    await eventually(() => lease.signal.aborted)
    const { error } = await outcome(lease.upgrade())
    expect(error).toMatchObject({ code: 'HOLDFAST_LEASE_LOST', reason: 'expired', lockName: 'it' })
    expect((error as Error).message).toMatch(
      /"it" was not upgraded: its upgradable lease .* was lost.*Acquire the upgradable lock again and read again/,
    )
    expect((error as Error).cause).toBe(lease.signal.reason)
    await lease.release()
  })

  test('an upgrade that waits ends when its upgradable lease is lost', async () => {
    const lock = newLock()
    const lease = await lock.upgradableLock().lock(1_000)
    const reading = await newLock().readLock().lock()
    const { error } = await within(5_000, outcome(lease.upgrade()))
    expect(error).toMatchObject({ code: 'HOLDFAST_LEASE_LOST', reason: 'expired' })
    await eventually(async () => (await lock.inspect()).waitingToWrite.length === 0)
    await reading.release()
    await lease.release()
    await granted(await newLock().writeLock().tryLock()).release()
  })

  test.each(['upgrade()', 'the write lock of its owner'])(
    '%s is refused if the server lost the upgradable lease: another owner may have written since',
    async (form) => {
      const client = newClient()
      const diary = new Diary(client)
      const lock = client.getReadWriteLock('it', { owner: client.owner() })
      const lease = await lock.upgradableLock().lock()
      // The client does not know of the loss, as after the server lost its data.
      const other = newClient().getReadWriteLock('it')
      expect(await other.upgradableLock().forceUnlock()).toBe(true)
      await (await other.writeLock().lock()).release()
      const write: () => Promise<Lease> =
        form === 'upgrade()' ? () => lease.upgrade() : () => lock.writeLock().lock()
      const { error } = await outcome(write())
      expect(error).toMatchObject({ code: 'HOLDFAST_LEASE_LOST', reason: 'gone' })
      expect(diary.lost).toEqual([lease.token])
      expect(await lease.release()).toBe(false)
      expect((await other.inspect()).mode).toBeNull()
    },
  )

  test('`close()` ends an upgrade that waits', async () => {
    const client = newClient()
    const lease = await client.getReadWriteLock('it').upgradableLock().lock()
    const reading = await newLock().readLock().lock()
    const waiting = outcome(lease.upgrade())
    await eventually(async () => (await newLock().inspect()).waitingToWrite.length === 1)
    await client.close()
    expect((await waiting).error).toMatchObject({ code: 'HOLDFAST_CLOSED' })
    await reading.release()
    await (await within(5_000, newLock().writeLock().lock())).release()
  })

  test('a lease can be upgraded while its client drains', async () => {
    const client = newClient()
    const lease = await client.getReadWriteLock('it').upgradableLock().lock()
    const closed = client.close({ drainMs: 10_000 })
    await (await lease.upgrade()).release()
    await lease.release()
    expect(await closed).toEqual([])
  })

  test('the error of a reader that requests another side names the three ways to write', async () => {
    const client = newClient()
    const lock = client.getReadWriteLock('it', { owner: client.owner() })
    const reading = await lock.readLock().lock()
    for (const side of ['write', 'upgradable'] as const) {
      const asked = side === 'write' ? lock.writeLock() : lock.upgradableLock()
      const { error } = await outcome<unknown>(asked.lock())
      expect((error as Error).message).toBe(
        `Read-write lock "it": the code that requested the ${side} lock holds the read lock, so it would wait ` +
          'for itself. It still holds the read lock. There are three ways to write. 1. Release the read lock first, ' +
          'then take the write lock and read again. 2. Take upgradableLock() instead of readLock(), and call ' +
          'upgrade() on its lease. 3. Take the write lock from the start: its holder may read too.',
      )
    }
    await reading.release()
  })
})

describe.each(places)('tokens %s', (_, newClient) => {
  test("the token of an upgradable lease, and of reads beside it, is not below the token of its owner's writes", async () => {
    const client = newClient()
    const lock = client.getReadWriteLock('it', { owner: client.owner() })
    const lease = await lock.upgradableLock().lock()
    const before = lease.token
    const writing = await lock.writeLock().lock()
    expect(writing.token).toBeGreaterThan(before)
    expect(lease.token).toBe(writing.token)
    const inside = await lock.readLock().lock()
    expect(inside.token).toBe(writing.token)
    await writing.release()
    // After the write, all reads have the token of the write, so a store that the write has updated accepts them.
    const after = await lock.readLock().lock()
    const beside = await newClient().getReadWriteLock('it').readLock().lock()
    expect([lease, inside, after, beside].map(({ token }) => token)).toEqual(
      Array(4).fill(writing.token),
    )
    const again = await lock.writeLock().tryLock()
    expect(again).toBeNull()
    for (const one of [inside, after, beside]) await one.release()
    const second = await lock.writeLock().lock()
    expect(second.token).toBeGreaterThan(writing.token)
    expect(lease.token).toBe(second.token)
    for (const one of [second, lease]) expect(await one.release()).toBe(true)
  })

  test('an upgrade that returns null does not change the token of the lease', async () => {
    const lease = await newClient().getReadWriteLock('it').upgradableLock().lock()
    const reading = await newClient().getReadWriteLock('it').readLock().lock()
    const before = lease.token
    expect(await lease.tryUpgrade()).toBeNull()
    expect(lease.token).toBe(before)
    for (const one of [lease, reading]) await one.release()
  })
})
