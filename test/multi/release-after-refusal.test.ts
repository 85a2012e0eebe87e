import { Holdfast } from '../../src/index.ts'
import { faultRig, granted, SHA } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'

const rig = faultRig()

test.each([
  ['a', 'b'],
  ['b', 'a'],
])('a refused multi-lock has released %s when it answers', async (mine, busy) => {
  const elsewhere = () => {
    const client = new Holdfast({ redis: `${rig.server.url}/1` })
    atEnd(() => client.close(), { beforeCheck: true })
    return client
  }
  const [one, two, holder] = [rig.client({ commandTimeoutMs: 3_000 }), elsewhere(), elsewhere()]
  const held = granted(await holder.getLock(busy).tryLock())
  const multi = one.getMultiLock(one.getLock(mine), two.getLock(busy))
  const trap = rig.proxy.onNextRequest(SHA.release, 'hold')
  let isOver = false
  const trying = multi.tryLock().finally(() => {
    isOver = true
  })
  await Promise.race([trap.seen, trying])
  if (isOver) {
    // The busy lock comes first in the order, so the client has acquired no lock.
    trap.cancel()
  } else {
    // These requests bypass the trap. They leave time for an answer that does not wait for the release.
    for (let asked = 0; asked < 50; asked++) expect(await rig.exists(mine)).toBe(true)
    expect(isOver).toBe(false)
    trap.release()
  }
  expect(await trying).toBeNull()
  expect(await rig.exists(mine)).toBe(false)
  await held.release()
})

test('a multi-lock whose second request would come too late answers that a lock is held', async () => {
  const client = rig.client({ commandTimeoutMs: 3_000 })
  const multi = client.getMultiLock(client.getLock('a'), client.getLock('b'))
  const held = await rig.witness().getLock('b').lock()
  expect(await multi.tryLock()).toBeNull()
  rig.proxy.delay(200)
  // The first answer takes 400 ms, so a second answer would come too late.
  expect(await multi.tryLock(750)).toBeNull()
  expect(await rig.exists('a')).toBe(false)
  await held.release()
})
