import { type Holdfast, NotDurableError } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { Diary, outcome, SHA } from '../support/fault-rig.ts'
import { lastingKeys } from '../support/lasting-keys.ts'
import { isWait, replicatedRig } from './durability-rig.ts'

const rig = replicatedRig()

/** All keys of locks, without the keys that outlive locks and the keys that only WAIT needs. */
async function keys(server = rig.master): Promise<string[]> {
  const all = await lastingKeys(server.admin)
  return all.filter((key) => !/^redisson_lock_token|^holdfast_(request|confirm)/.test(key)).sort()
}

const nothingIsLeft = () => eventually(async () => (await keys()).length === 0)

/** Returns a client whose acquisitions lack a replica until the first replica resumes. */
function shortOf(timeoutMs = 250): Holdfast {
  rig.replicas[0].pause()
  return rig.client({ replicas: 2, timeoutMs })
}

/** An acquisition of each kind. */
const kinds: Record<string, (client: Holdfast) => Promise<{ release(): Promise<unknown> } | null>> =
  {
    'a lock': (client) => client.getLock('it').tryLock(),
    'a fair lock': (client) => client.getFairLock('it').lock(),
    'a fair lock that is tried once': (client) => client.getFairLock('it').tryLock(),
    'a lock to read': (client) => client.getReadWriteLock('it').readLock().lock(),
    'an upgradable lock': (client) => client.getReadWriteLock('it').upgradableLock().lock(),
    'a lock to write': (client) => client.getReadWriteLock('it').writeLock().tryLock(),
    'several locks of one request': (client) =>
      client.getMultiLock(...['one', 'two', 'three'].map((name) => client.getLock(name))).lock(),
    'several locks of each kind': (client) =>
      client
        .getMultiLock(
          client.getLock('one'),
          client.getFairLock('two'),
          client.getReadWriteLock('three').writeLock(),
        )
        .tryLock(),
  }

describe.each(Object.entries(kinds))('%s', (_, acquire) => {
  test('an acquisition counts when the replicas have all its keys', async () => {
    const lease = await acquire(rig.client({ replicas: 'all' }))
    const there = await keys()
    expect(there).not.toEqual([])
    for (const replica of rig.replicas) expect(await keys(replica)).toEqual(there)
    await lease?.release()
    await nothingIsLeft()
  })

  test('an acquisition counts after a WAIT whose reply was lost, and is held once', async () => {
    const client = rig.client({ replicas: 2 })
    const trap = rig.proxy.onNextRequest(isWait, 'cutAfter')
    const lease = await acquire(client)
    await trap.seen
    const there = await keys()
    for (const replica of rig.replicas) expect(await keys(replica)).toEqual(there)
    await lease?.release()
    await nothingIsLeft()
  })

  test('an acquisition is undone if the replicas do not have it', async () => {
    const client = shortOf()
    const diary = new Diary(client)
    const { error } = await outcome(acquire(client))
    expect(error).toBeInstanceOf(NotDurableError)
    await nothingIsLeft()
    expect(diary.lost).toEqual([])
  })
})

test('several locks of one request share one WAIT', async () => {
  const client = rig.client({ replicas: 2 }, { commandTimeoutMs: 5_000 })
  const multi = client.getMultiLock(...['one', 'two', 'three'].map((name) => client.getLock(name)))
  const lease = await multi.lock()
  await lease.release()
  expect(rig.proxy.count(SHA.acquireAll)).toBe(1)
  expect(rig.proxy.count(isWait)).toBe(1)
})

describe('a fair lock', () => {
  test('a grant from the queue is confirmed, and without a confirmation the next waiter acquires the lock', async () => {
    const other = rig.witness()
    const [theirs, next] = [other.getFairLock('it'), rig.witness().getFairLock('it')]
    const held = await theirs.lock()
    const client = shortOf(300)
    const queue = () => rig.master.admin.zcard('holdfast_queue:{it}')
    const waiting = outcome(client.getFairLock('it').lock())
    await eventually(async () => (await queue()) === 1)
    const behind = next.lock()
    await eventually(async () => (await queue()) === 2)
    await held.release()
    expect((await waiting).error).toBeInstanceOf(NotDurableError)
    const lease = await behind
    expect(Object.keys(await rig.hash('it'))).toEqual([lease.owner])
    await lease.release()
  })

  test('a waiter acquires the fair lock when the replicas have its grant', async () => {
    const held = await rig.witness().getFairLock('it').lock()
    const client = rig.client({ replicas: 2 })
    const waiting = client.getFairLock('it').lock()
    await eventually(async () => (await rig.master.admin.zcard('holdfast_queue:{it}')) === 1)
    await held.release()
    const lease = await waiting
    for (const replica of rig.replicas) {
      expect(await rig.hash('it', replica)).toEqual({ [lease.owner]: '1' })
    }
    await lease.release()
  })
})

describe('permits', () => {
  test('permits with leases count when the replicas have them', async () => {
    const client = rig.client({ replicas: 2 })
    const semaphore = client.getPermitExpirableSemaphore('it')
    await semaphore.trySetPermits(3)
    const permit = await semaphore.acquire({ permits: 2 })
    for (const { admin } of rig.replicas) expect(await admin.zcard('{it}:timeout')).toBe(2)
    await permit.release()
    await rig.master.admin.del('it')
  })

  test('permits with leases are returned if the replicas do not have them', async () => {
    const client = shortOf()
    const semaphore = client.getPermitExpirableSemaphore('it')
    await semaphore.trySetPermits(3)
    const { error } = await outcome(semaphore.tryAcquire({ permits: 2 }))
    expect(error).toBeInstanceOf(NotDurableError)
    expect(String(error)).toContain('Semaphore "it": not acquired')
    await eventually(async () => (await semaphore.inspect()).available === 3)
    await rig.master.admin.del('it')
  })

  test('permits without leases need no confirmation', async () => {
    const client = shortOf()
    const semaphore = client.getSemaphore('it')
    await semaphore.trySetPermits(1)
    await semaphore.acquire()
    expect(rig.proxy.count(isWait)).toBe(0)
    await semaphore.release()
    await rig.master.admin.del('it')
  })
})

describe('several calls of one client', () => {
  test('a waiter of the same client receives no hand-off, and its acquisition is confirmed', async () => {
    const client = rig.client({ replicas: 2 }, { commandTimeoutMs: 5_000 })
    const lock = client.getLock('it')
    const first = await lock.lock()
    const [second, third] = [lock.lock(), lock.lock()]
    await first.release()
    for (const waiting of [second, third]) {
      const lease = await waiting
      expect(await rig.hash('it', rig.replicas[0])).toEqual({ [lease.owner]: '1' })
      await lease.release()
    }
    expect(rig.proxy.count(SHA.handOver)).toBe(0)
    expect(rig.proxy.count(isWait)).toBe(3)
  })

  test('a re-entry needs no confirmation', async () => {
    const client = rig.client({ replicas: 2, timeoutMs: 2_000 })
    const lock = client.getLock('it')
    await lock.using(async () => {
      rig.replicas[0].pause()
      await lock.using(() => {})
      expect(rig.proxy.count(isWait)).toBe(1)
    })
  })
})

test('a candidate retries, and leads when the replicas are back', async () => {
  const client = shortOf(200)
  const diary = new Diary(client)
  const election = client.getLeaderElection('it')
  const leading = election.lead((term) => term.token, { again: true })
  await eventually(() => diary.errors.length > 0)
  expect(diary.errors[0]).toBeInstanceOf(NotDurableError)
  rig.replicas[0].resume()
  expect(await leading).toBeGreaterThan(0)
})
