import { faultRig, granted } from '../support/fault-rig.ts'

const rig = faultRig()

test('a call with little time does not shorten the time of other calls that are sent with it', async () => {
  const client = rig.client({ commandTimeoutMs: 5_000 })
  await granted(await client.getLock('warm').tryLock()).release()
  rig.proxy.delay(100, { direction: 'both' })
  const busy = client.getLock('busy').inspect()
  const hasty = client.getLock('hasty').tryLock(5)
  const waiting = client.getLock('waiting').lock()
  await Promise.allSettled([busy, hasty])
  await (await waiting).release()
  const asked = rig.proxy.requests.filter(
    ({ args }) => args.includes('waiting') && args.includes('redisson_lock_token:{waiting}'),
  )
  expect(asked).toHaveLength(2)
})

test('calls whose time has passed before they are sent still acquire their locks', async () => {
  const client = rig.client({ commandTimeoutMs: 50 })
  await granted(await client.getLock('warm').tryLock()).release()
  const busy = client.getLock('busy').inspect()
  const asking = [1, 2, 3].map((n) => client.getLock(`it ${n}`).lock())
  const blockedAt = performance.now()
  while (performance.now() < blockedAt + 150);
  await Promise.allSettled([busy])
  for (const lease of await Promise.all(asking)) expect(await lease.release()).toBe(true)
})
