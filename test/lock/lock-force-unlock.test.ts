import { eventually } from '../support/eventually.ts'
import { Diary, faultRig, granted, outcome, within } from '../support/fault-rig.ts'
import { forceRelease, peek } from '../support/scripts.ts'

/** A forced unlock ends the hold that it found, and no other hold. */
const rig = faultRig()

const lost = ['cutAfter', 'mute'] as const

describe.each(lost)('a `forceUnlock()` whose answer is lost (%s)', (action) => {
  test('is sent again without harm to the next holder', async () => {
    const client = rig.client({ outageMs: 10_000 })
    const witness = rig.witness()
    const theirs = granted(await rig.witness().getLock('it').tryLock())
    await client.getLock('it').isLocked()
    const next = witness.getLock('it').lock()
    await rig.listening('it')
    rig.proxy.onNextRequest(forceRelease.sha1, action)
    const again = rig.proxy.onNextRequest(forceRelease.sha1, 'hold')
    const forcing = outcome(client.getLock('it').forceUnlock())
    await within(8_000, again.seen)
    const lease = await within(8_000, next)
    again.release()
    expect(await within(8_000, forcing)).toMatchObject({ value: true })
    expect(await rig.hash('it')).toEqual({ [lease.owner]: '1' })
    expect(lease.token).toBeGreaterThan(theirs.token)
    expect(await lease.release()).toBe(true)
    expect(await theirs.release()).toBe(false)
  })

  test('ends the lease of a holder in the same client', async () => {
    const client = rig.client({ outageMs: 10_000 })
    const diary = new Diary(client)
    const lease = granted(await client.getLock('it').tryLock())
    rig.proxy.onNextRequest(forceRelease.sha1, action)
    expect(await within(8_000, client.getLock('it').forceUnlock())).toBe(true)
    expect(lease.signal.aborted).toBe(true)
    // After a cut, the client checks all holds. This check may report the hold as gone before the client reports the
    // forced unlock.
    expect(['forced', 'gone']).toContain(String(diary.reasons))
    expect(await lease.release()).toBe(false)
  })
})

test('`forceUnlock()` does not end a later hold of the same owner name', async () => {
  const client = rig.client({ commandTimeoutMs: 3_000 })
  // A thread of Redisson has the same owner name for all its holds.
  const held = (token: number) =>
    rig.server.admin
      .multi()
      .hset('it', 'java:1', 1)
      .pexpire('it', 10_000)
      .set('redisson_lock_token:{it}', token, 'PX', 20_000)
      .exec()
  await held(5)
  const trap = rig.proxy.onNextRequest(forceRelease.sha1, 'hold')
  const forcing = client.getLock('it').forceUnlock()
  await trap.seen
  await held(6)
  trap.release()
  expect(await within(5_000, forcing)).toBe(true)
  expect(await rig.hash('it')).toEqual({ 'java:1': '1' })
  await rig.server.admin.del('it')
})

test('a late copy of a `forceUnlock()` ends no later hold', async () => {
  const client = rig.client()
  const owner = client.owner()
  await rig.witness().getLock('it').lock()
  const trap = rig.proxy.onNextRequest(forceRelease.sha1, 'pass')
  expect(await client.getLock('it').forceUnlock()).toBe(true)
  const next = granted(await client.getLock('it', { owner }).tryLock())
  await rig.proxy.replay(await trap.seen)
  expect(await rig.hash('it')).toEqual({ [next.owner]: '1' })
  expect(await next.release()).toBe(true)
})

test('`forceUnlock()` ends the hold of the caller that received the lock in a hand-off of its client', async () => {
  const client = rig.client()
  const lock = client.getLock('it')
  const held = await lock.lock()
  const following = [lock.lock(), lock.lock()]
  await held.release()
  const first = await (following[0] as (typeof following)[0])
  await first.release()
  const second = await (following[1] as (typeof following)[0])
  expect(await rig.witness().getLock('it').forceUnlock()).toBe(true)
  expect(await rig.exists('it')).toBe(false)
  expect(await second.release()).toBe(false)
})

test('`forceUnlock()` of a free lock sends one request, and returns false', async () => {
  const client = rig.client({ commandTimeoutMs: 20_000, outageMs: 20_000 })
  expect(await client.getLock('it').forceUnlock()).toBe(false)
  expect(rig.proxy.count(forceRelease.sha1)).toBe(0)
  expect(rig.proxy.count(peek.sha1)).toBe(1)
  await eventually(async () => !(await rig.exists('it')))
})
