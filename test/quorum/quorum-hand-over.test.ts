import { HandOverBudget } from '../../src/local/hand-over-budget.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { startProxy } from '../support/proxy.ts'
import { Cluster } from '../support/quorum-rig.ts'
import * as scripts from '../support/scripts.ts'

afterEach(() => jest.restoreAllMocks())

test('a lock that was restored at a master stays there for the next owner with the same id', async () => {
  // The turn of the client never ends, so the test may be slow.
  jest.spyOn(HandOverBudget.prototype, 'isUsedUp', 'get').mockReturnValue(false)
  const cluster = await Cluster.start(3)
  const [one, two, three] = cluster.masters
  if (one === undefined || two === undefined || three === undefined) throw new Error('no masters')
  const proxy = await startProxy(three.port)
  for (const { admin } of cluster.masters) {
    for (const { source } of Object.values(scripts)) await admin.script('LOAD', source)
  }
  const options = { leaseMs: 60_000, commandTimeoutMs: 3_000 }
  const client = cluster.client(options, [one.url, two.url, proxy.url])
  atEnd(() => proxy.heal(), { beforeCheck: true })
  const lock = client.getLock('it')
  let waiting = 0
  client.on('wait', () => {
    waiting += 1
  })
  const first = await lock.lock()
  const [second, third] = [lock.lock(), lock.lock()]
  await eventually(() => waiting === 2)
  await first.release()
  const lease = await second
  await cluster.heldEverywhere('it', lease.owner)
  const trap = proxy.onNextRequest(scripts.restore.sha1, 'holdReply')
  await three.admin.del('it')
  // After a new connection, the client checks all holds.
  await three.admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
  await trap.seen
  await eventually(async () => (await three.admin.exists('it')) === 1)
  await lease.release()
  const next = await third
  expect(next.owner).toBe(lease.owner)
  const releases = proxy.count(scripts.release.sha1)
  trap.release()
  await lock.isLocked() // All requests that follow from the answer have been sent before this request.
  await lock.isLocked()
  expect(proxy.count(scripts.release.sha1)).toBe(releases)
  expect(await cluster.holders('it')).toEqual(Array(3).fill(next.owner))
  await next.release()
})
