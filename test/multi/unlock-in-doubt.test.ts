import { LeaseLostError } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { faultRig } from '../support/fault-rig.ts'

const rig = faultRig()

test('`unlock()` after two acquisitions reports the one lock that was lost, and no other lock', async () => {
  const client = rig.client({ leaseMs: 900 })
  const both = client.getMultiLock(client.getLock('a'), client.getLock('b'))
  const first = await both.lock()
  await rig.server.admin.del('a', 'b')
  await eventually(() => first.leases.every(({ signal }) => signal.aborted), { timeoutMs: 5_000 })
  const second = await both.lock(60_000)
  await rig.server.admin.del('a')
  const error = await both.unlock().catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(LeaseLostError)
  expect(error).toMatchObject({ lockName: 'a', reason: 'gone' })
  expect(second.leases[1]?.signal.reason).toMatchObject({ lockName: 'b', reason: 'forced' })
  expect(await rig.exists('b')).toBe(false)
})
