import type { HoldfastLock, Lease } from '../../src/index.ts'
import { HandOverBudget } from '../../src/local/hand-over-budget.ts'
import { eventually } from '../support/eventually.ts'
import { faultRig, SHA } from '../support/fault-rig.ts'

/** Tests when a client hands a lock over by a request to Redis. The turn of the client never ends in these tests. */
const rig = faultRig()

beforeEach(() => {
  jest.spyOn(HandOverBudget.prototype, 'isUsedUp', 'get').mockReturnValue(false)
})
afterEach(() => jest.restoreAllMocks())

/** So long that delays of a busy machine use up only a negligible part. */
const LEASE_MS = 600_000

async function reenter(_: Lease, lock: HoldfastLock): Promise<void> {
  const again = await lock.lock()
  await again.release()
}

const nothing = async () => {}

test.each<[string, number, (lease: Lease, lock: HoldfastLock) => Promise<void>]>([
  ['was only held is handed off without Redis', 0, nothing],
  ['was re-entered is handed off by Redis, to another owner name', 1, reenter],
  ['was extended is handed off by Redis, to another owner name', 1, (lease) => lease.extend(1_000)],
])('a lock that %s', async (_, handedOver, use) => {
  // With these times, no request is repeated because an answer is late.
  const client = rig.client({ leaseMs: LEASE_MS, commandTimeoutMs: 20_000, outageMs: 20_000 })
  const lock = client.getLock('it', { owner: client.owner() })
  const other = client.getLock('it')
  let waiting = 0
  client.on('wait', () => {
    waiting += 1
  })
  const held = await other.lock()
  const [first, second, third] = [other.lock(), lock.lock(), other.lock()]
  await eventually(() => waiting === 3)
  // This hand-over reserves the tokens for all following hand-overs.
  await held.release()
  await (await first).release()
  const lease = await second
  const before = rig.proxy.count(SHA.handOver)
  await use(lease, lock)
  await lease.release()
  const next = await third
  expect(rig.proxy.count(SHA.handOver) - before).toBe(handedOver)
  expect(next.owner === lease.owner).toBe(handedOver === 0)
  await next.release()
})
