import { Diary, faultRig, granted, within } from '../support/fault-rig.ts'
import * as scripts from '../support/scripts.ts'

/** Requests for one lock reach the server in their order, even if requests are sent together. */
const rig = faultRig()

describe.each(['getLock', 'getFairLock'] as const)('%s while other answers are due', (kind) => {
  test.each([0, 1])('two releases at once end a hold, with %i waiters', async (waiting) => {
    const client = rig.client({ commandTimeoutMs: 5_000 })
    const diary = new Diary(client)
    const lock = client[kind]('it', { owner: client.owner() })
    const one = await lock.lock()
    const two = await lock.lock()
    const next = Array.from({ length: waiting }, () => client[kind]('it').lock())
    if (kind === 'getFairLock') await rig.queued('it', waiting)
    const other = client.getLock('other').tryLock()
    const released = await within(5_000, Promise.all([one.release(), two.release()]))
    await granted(await other).release()
    for (const lease of await within(5_000, Promise.all(next))) await lease.release()
    expect(released).toEqual([true, true])
    expect(diary.lost).toEqual([])
    expect(await rig.exists('it')).toBe(false)
  })
})

test('a check after a release in the same turn of the event loop sees that the lock is free', async () => {
  const client = rig.client({ commandTimeoutMs: 5_000 })
  const lock = client.getLock('it')
  const lease = await lock.lock()
  const other = client.getLock('other').tryLock()
  const seen = await within(5_000, Promise.all([lease.release(), lock.isLocked()]))
  await granted(await other).release()
  expect(seen).toEqual([true, false])
})

test('a nested release that arrives after the last release is no loss', async () => {
  const client = rig.client({ commandTimeoutMs: 5_000 })
  const diary = new Diary(client)
  const lock = client.getFairLock('it', { owner: client.owner() })
  const one = await lock.lock()
  const two = await lock.lock()
  // The server does not know the script. So the client sends the request again with its source, after the other
  // release.
  await rig.server.admin.script('FLUSH')
  await rig.server.admin.script('LOAD', scripts.releaseFair.source)
  const released = await within(5_000, Promise.all([one.release(), two.release()]))
  expect(released).toEqual([true, true])
  expect(diary.lost).toEqual([])
  expect(await rig.exists('it')).toBe(false)
})
