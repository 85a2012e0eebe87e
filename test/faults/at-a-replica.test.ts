import type { Holdfast } from '../../src/index.ts'
import { eventually, never } from '../support/eventually.ts'
import { faultRig, within } from '../support/fault-rig.ts'

const rig = faultRig()

/** Makes the server a replica without these keys. Returns a function that makes it a master with these keys. */
async function becomeReplicaWithout(...names: string[]): Promise<() => Promise<void>> {
  const { admin } = rig.server
  const dumps = await Promise.all(
    names.map(
      async (name) => [name, await admin.pttl(name), await admin.dumpBuffer(name)] as const,
    ),
  )
  const hole = rig.proxy.blackHole({ direction: 'toServer' })
  await admin.del(...names)
  await admin.replicaof('127.0.0.1', '1')
  hole.heal()
  return async () => {
    const second = rig.proxy.blackHole({ direction: 'toServer' })
    await admin.replicaof('NO', 'ONE')
    for (const [name, ttlMs, dump] of dumps) {
      await admin.restore(name, Math.max(ttlMs, 0), dump as Buffer)
    }
    second.heal()
  }
}

/** Checks that the call does not settle while the server is a replica. */
async function unsettledAtReplica<T>(names: string[], call: () => Promise<T>): Promise<T> {
  const becomeMaster = await becomeReplicaWithout(...names)
  let isSettled = false
  const called = call().finally(() => {
    isSettled = true
  })
  called.catch(() => undefined)
  await never(() => isSettled, 300)
  await becomeMaster()
  return called
}

describe('a replica that lags behind does not report that a hold is gone', () => {
  test.each(['lock', 'fair', 'read', 'upgradable', 'write'] as const)(
    'to the release of the lock: %s',
    async (kind) => {
      const client = rig.client()
      const locks = {
        lock: () => client.getLock('it'),
        fair: () => client.getFairLock('it'),
        read: () => client.getReadWriteLock('it').readLock(),
        upgradable: () => client.getReadWriteLock('it').upgradableLock(),
        write: () => client.getReadWriteLock('it').writeLock(),
      }
      const lease = await locks[kind]().lock()
      const releasing = unsettledAtReplica(['it'], () => lease.release())
      expect(await within(10_000, releasing)).toBe(true)
      await eventually(async () => !(await rig.exists('it')))
    },
  )
})

describe('a replica that lags behind gives no final answer', () => {
  const PATIENT = { outageMs: 8_000 }

  // Latches and semaphores have keys without a TTL.
  afterEach(async () => {
    await rig.server.admin.replicaof('NO', 'ONE')
    await rig.server.admin.del('it', '{it}:timeout', 'holdfast_round:{it}')
  })

  test('to a call that awaits a latch', async () => {
    const latch = rig.client(PATIENT).getCountDownLatch('it')
    await latch.trySetCount(1)
    expect(await unsettledAtReplica(['it'], () => latch.await({ waitMs: 3_000 }))).toBe(false)
  })

  test('to a call that awaits a round, while the replica has the round before', async () => {
    const latch = rig.client(PATIENT).getCountDownLatch('it')
    await latch.trySetCount(1)
    const { round } = await latch.inspect()
    await rig.server.admin.set(
      'holdfast_round:{it}',
      String(Number(round) - 5_000_000),
      'PX',
      60_000,
    )
    await rig.server.admin.replicaof('127.0.0.1', '1')
    let isSettled = false
    const awaiting = latch.await({ round: Number(round), waitMs: 3_000 }).finally(() => {
      isSettled = true
    })
    await never(() => isSettled, 300)
    const hole = rig.proxy.blackHole({ direction: 'toServer' })
    await rig.server.admin.replicaof('NO', 'ONE')
    await rig.server.admin.set('holdfast_round:{it}', String(round), 'PX', 60_000)
    hole.heal()
    expect(await awaiting).toBe(false)
  })

  test('to a count-down', async () => {
    const latch = rig.client(PATIENT).getCountDownLatch('it')
    await latch.trySetCount(2)
    expect(await unsettledAtReplica(['it'], () => latch.countDown())).toBe(1)
  })

  test('to a count-down of one round', async () => {
    const latch = rig.client(PATIENT).getCountDownLatch('it')
    await latch.trySetCount(2)
    const { round } = await latch.inspect()
    const counted = () => latch.countDown({ round: Number(round) })
    expect(await unsettledAtReplica(['it', 'holdfast_round:{it}'], counted)).toBe(1)
  })

  test('to a call that deletes a count of one round', async () => {
    const latch = rig.client(PATIENT).getCountDownLatch('it')
    await latch.trySetCount(2)
    const { round } = await latch.inspect()
    const deleted = () => latch.delete({ round: Number(round) })
    expect(await unsettledAtReplica(['it', 'holdfast_round:{it}'], deleted)).toBe(true)
  })

  test('to a release of permits', async () => {
    const semaphore = rig.client(PATIENT).getPermitExpirableSemaphore('it')
    await semaphore.trySetPermits(2)
    const permit = await semaphore.acquire()
    const names = ['it', '{it}:timeout']
    expect(await unsettledAtReplica(names, () => permit.release())).toBe(true)
    expect(await semaphore.availablePermits()).toBe(2)
  })

  test('to an acquisition of permits that the replica does not know', async () => {
    const semaphore = rig.client(PATIENT).getPermitExpirableSemaphore('it')
    await semaphore.trySetPermits(1)
    const permit = await unsettledAtReplica(['it'], () => semaphore.tryAcquire())
    expect(await permit?.release()).toBe(true)
  })

  test('to an acquisition of plain permits that the replica does not know', async () => {
    const semaphore = rig.client(PATIENT).getSemaphore('it')
    await semaphore.trySetPermits(1)
    expect(await unsettledAtReplica(['it'], () => semaphore.tryAcquire())).toBe(true)
  })

  test.each(['lock', 'read', 'write', 'permit'] as const)('to a renewal: %s', async (kind) => {
    const client = rig.client({ leaseMs: 3_000 })
    const acquired = {
      lock: () => client.getLock('it').lock(),
      read: () => client.getReadWriteLock('it').readLock().lock(),
      write: () => client.getReadWriteLock('it').writeLock().lock(),
      permit: async () => {
        const semaphore = client.getPermitExpirableSemaphore('it')
        await semaphore.trySetPermits(1)
        return semaphore.acquire()
      },
    }
    const lease = await acquired[kind]()
    const names = ['it', '{it}:timeout'].filter((name) => kind === 'permit' || name === 'it')
    const becomeMaster = await becomeReplicaWithout(...names)
    // The watchdog renews after a third of the lease.
    await never(() => lease.signal.aborted, 1_700)
    await becomeMaster()
    expect(lease.signal.aborted).toBe(false)
    await lease.release()
  })

  test('to the hand-off to the next caller of the same client', async () => {
    const client = rig.client(PATIENT)
    const lease = await client.getLock('it').lock()
    const next = client.getLock('it').lock({ waitMs: 9_000 })
    const released = await unsettledAtReplica(['it'], () => lease.release())
    expect(released).toBe(true)
    await (await next).release()
  })
})

/** How a client holds the lock, and how another client tries once. A try returns null or false if the lock is held. */
interface Asked {
  hold(client: Holdfast): Promise<unknown>
  ask(client: Holdfast): Promise<unknown>
}

const asked: Record<string, Asked> = {
  'a lock': {
    hold: (client) => client.getLock('it').lock(60_000),
    ask: (client) => client.getLock('it').tryLock(),
  },
  'a fair lock': {
    hold: (client) => client.getFairLock('it').lock(60_000),
    ask: (client) => client.getFairLock('it').tryLock(),
  },
  'several locks': {
    hold: (client) => client.getLock('it').lock(60_000),
    ask: (client) => client.getMultiLock(client.getLock('it'), client.getLock('other')).tryLock(),
  },
  'a read lock': {
    hold: (client) => client.getReadWriteLock('it').writeLock().lock(60_000),
    ask: (client) => client.getReadWriteLock('it').readLock().tryLock(),
  },
  'an upgradable lock': {
    hold: (client) => client.getReadWriteLock('it').upgradableLock().lock(60_000),
    ask: (client) => client.getReadWriteLock('it').upgradableLock().tryLock(),
  },
  'a write lock': {
    hold: (client) => client.getReadWriteLock('it').readLock().lock(60_000),
    ask: (client) => client.getReadWriteLock('it').writeLock().tryLock(),
  },
  'a permit': {
    hold: async (client) => {
      const semaphore = client.getPermitExpirableSemaphore('it')
      await semaphore.trySetPermits(1)
      return semaphore.acquire({ leaseMs: 60_000 })
    },
    ask: (client) => client.getPermitExpirableSemaphore('it').tryAcquire(),
  },
  'more permits than there were': {
    hold: (client) => client.getPermitExpirableSemaphore('it').trySetPermits(1),
    ask: (client) => client.getPermitExpirableSemaphore('it').tryAcquire({ permits: 2 }),
  },
  'a permit without a lease': {
    hold: async (client) => {
      const semaphore = client.getSemaphore('it')
      await semaphore.trySetPermits(1)
      await semaphore.acquire()
    },
    ask: (client) => client.getSemaphore('it').tryAcquire(),
  },
}

describe('a single try while another owner holds', () => {
  afterEach(async () => {
    const { admin } = rig.server
    await admin.replicaof('NO', 'ONE')
    await admin.config('SET', 'min-replicas-to-write', '0')
    await admin.del('it', ...(await admin.keys('{it}:*')))
  })

  test.each(Object.entries(asked))(
    'a try for %s gets no answer from a replica that does not know the release',
    async (what, { hold, ask }) => {
      const client = rig.client({ outageMs: 8_000 })
      await hold(rig.witness())
      const isOver = what === 'more permits than there were'
      // Connects the client.
      await client.getLock('first').using(() => undefined)
      const { admin } = rig.server
      await admin.replicaof('127.0.0.1', '1')
      let isSettled = false
      const asking = ask(client).finally(() => {
        isSettled = true
      })
      asking.catch(() => undefined)
      await never(() => isSettled, 300)
      const hole = rig.proxy.blackHole({ direction: 'toServer' })
      await admin.replicaof('NO', 'ONE')
      if (what.includes('permit')) await admin.set('it', isOver ? '2' : '1')
      else await admin.del('it')
      if (what.includes('permit')) await admin.del('{it}:timeout')
      hole.heal()
      const got = await within(10_000, asking)
      expect(got).toBeTruthy()
      if (typeof got === 'object') await (got as { release(): Promise<boolean> }).release()
    },
  )

  test.each(Object.entries(asked).filter(([what]) => !what.startsWith('more')))(
    'a try for %s returns null or false from a master that refuses writes',
    async (_, { hold, ask }) => {
      const client = rig.client({ outageMs: 8_000 })
      await hold(rig.witness())
      await client.getLock('first').using(() => undefined)
      await rig.server.admin.config('SET', 'min-replicas-to-write', '1')
      expect(await within(1_000, ask(client))).toBeFalsy()
      await rig.server.admin.config('SET', 'min-replicas-to-write', '0')
    },
  )
})
