import { eventually, never } from '../support/eventually.ts'
import { faultRig, within } from '../support/fault-rig.ts'

const rig = faultRig()

/** The server becomes a replica that has not heard of the hold: an address may lead there after a failover. */
async function becomeStaleReplica(): Promise<() => Promise<void>> {
  const hold = await rig.server.admin.dumpBuffer('it')
  const ttlMs = await rig.server.admin.pttl('it')
  await rig.server.admin.del('it')
  await rig.server.admin.replicaof('127.0.0.1', '1')
  return async () => {
    // Nothing arrives between the two.
    const hole = rig.proxy.blackHole({ direction: 'toServer' })
    await rig.server.admin.replicaof('NO', 'ONE')
    await rig.server.admin.restore('it', ttlMs, hold as Buffer)
    hole.heal()
  }
}

describe('a replica that has not heard of a hold does not say that the hold is gone', () => {
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
      const becomeMaster = await becomeStaleReplica()
      let answer: unknown
      const releasing = lease.release().then((wasHeld) => {
        answer = wasHeld
        return wasHeld
      })
      await never(() => answer !== undefined, 300)
      await becomeMaster()
      expect(await within(10_000, releasing)).toBe(true)
      await eventually(async () => !(await rig.exists('it')))
    },
  )
})
