import { faultRig } from '../support/fault-rig.ts'

const rig = faultRig()

const READER = '0f8fad5b-d9cb-469f-a165-70867728950e:1'

/**
 * In versions before 4.0, the watchdog of Redisson renews the lock, but not the leases of a reader that has re-entered.
 */
async function reentered(leaseMs?: number): Promise<void> {
  const { admin } = rig.server
  await admin.hset('it', { mode: 'read', [READER]: 2 })
  await admin.pexpire('it', 30_000)
  if (leaseMs === undefined) return
  for (const n of [1, 2]) await admin.set(`{it}:${READER}:rwlock_timeout:${n}`, 1, 'PX', leaseMs)
}

describe('a re-entered reader of Redisson', () => {
  test.each([undefined, 5_000])(
    'the reader holds the lock until the lock expires, not until its own leases end (%s ms)',
    async (leaseMs) => {
      await reentered(leaseMs)
      const lock = rig.client().getReadWriteLock('it')
      expect(await lock.writeLock().tryLock()).toBeNull()
      const reading = await lock.readLock().lock(1_000)
      await reading.release()
      expect(await rig.server.admin.pttl('it')).toBeGreaterThan(20_000)
      expect(await lock.writeLock().tryLock()).toBeNull()
      await rig.server.admin.flushall()
    },
  )

  test('the reader is reported, and can be removed by force, after its leases have ended', async () => {
    await reentered()
    const lock = rig.client().getReadWriteLock('it')
    const holders = [{ owner: READER, holdCount: 2 }]
    expect(await lock.inspect()).toMatchObject({ mode: 'read', holders })
    expect(await lock.readLock().isLocked()).toBe(true)
    expect(await lock.readLock().remainingMs()).toBeGreaterThan(20_000)
    expect(await lock.readLock().forceUnlock()).toBe(true)
    expect(await rig.exists('it')).toBe(false)
  })
})
