import type { Holdfast, HoldfastLock, Lease } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { faultRig, granted, outcome, SHA, within } from '../support/fault-rig.ts'

/** Acquisitions by the holder of a lock, and events in the meantime. */
const rig = faultRig()

const ownersLock = (client: Holdfast, name: string): HoldfastLock =>
  client.getLock(name, { owner: client.owner() })

const LOST = { code: 'HOLDFAST_LEASE_LOST', reason: 'expired' }

describe('a re-entry whose hold ends before its answer arrives', () => {
  /**
   * Acquires the lock with a short lease, and re-enters. The answer to the re-entry arrives after the lease has
   * expired.
   */
  async function reenterTooLate(lock: HoldfastLock): Promise<unknown> {
    const lease = await lock.lock(1_000)
    const trap = rig.proxy.onNextRequest(SHA.acquire, 'holdReply')
    const again = outcome(lock.lock())
    await trap.seen
    await eventually(() => lease.signal.aborted)
    trap.release()
    const { error } = await within(5_000, again)
    expect(await lease.release()).toBe(false)
    return error
  }

  test('rejects for an explicit owner', async () => {
    const client = rig.client({ commandTimeoutMs: 5_000 })
    expect(await reenterTooLate(ownersLock(client, 'it'))).toMatchObject(LOST)
    await eventually(async () => !(await rig.exists('it')))
  })

  test('rejects in a frame', async () => {
    const client = rig.client({ commandTimeoutMs: 5_000 })
    expect(await client.run(() => reenterTooLate(client.getLock('it')))).toMatchObject(LOST)
    await eventually(async () => !(await rig.exists('it')))
  })

  test('leaves the lock to a waiter', async () => {
    const client = rig.client({ commandTimeoutMs: 5_000 })
    client.once('acquired', () => {
      waiting = client.getLock('it').lock()
    })
    let waiting: Promise<Lease> | undefined
    expect(await reenterTooLate(ownersLock(client, 'it'))).toMatchObject(LOST)
    const next = await within(5_000, waiting as Promise<Lease>)
    expect(await rig.hash('it')).toEqual({ [next.owner]: '1' })
    await next.release()
  })
})

test('an extension in progress at the last release rejects with an error that says so', async () => {
  const client = rig.client({ commandTimeoutMs: 5_000 })
  const lease = await client.getLock('it').lock()
  const trap = rig.proxy.onNextRequest(SHA.renew, 'holdReply')
  const extending = outcome(lease.extend(20_000))
  await trap.seen
  const releasing = lease.release()
  trap.release()
  expect(await releasing).toBe(true)
  expect((await extending).error).toMatchObject({
    code: 'HOLDFAST_INVALID_ARGUMENT',
    message: expect.stringContaining('released'),
  })
})

test('an abort at any moment around the answer to a re-entry leaves no count behind', async () => {
  const client = rig.client({ commandTimeoutMs: 5_000 })
  // The abort comes `ticks` microtasks after another answer, which arrives just before the answer to the re-entry.
  for (let ticks = 0; ticks < 24; ticks++) {
    const lock = ownersLock(client, 'it')
    const lease = granted(await lock.tryLock())
    const aborting = new AbortController()
    const trap = rig.proxy.onNextRequest('another', 'holdReply')
    const abort = async () => {
      await client.getLock('another').inspect()
      for (let i = 0; i < ticks; i++) await null
      aborting.abort()
    }
    const aborted = abort()
    await trap.seen
    const again = outcome(lock.lock({ signal: aborting.signal }))
    await eventually(async () => (await rig.hash('it'))[lease.owner] === '2')
    trap.release()
    await aborted
    const { value, error } = await within(5_000, again)
    if (value === undefined) expect(error).toBe(aborting.signal.reason)
    await value?.release()
    expect(await lease.release()).toBe(true)
    await eventually(async () => !(await rig.exists('it')), {
      message: `the end of the lock, aborted after ${ticks} microtasks`,
    })
  }
})

test('a late re-entry does not raise the hold count of the next hold', async () => {
  const client = rig.client({ commandTimeoutMs: 1_500 })
  const lock = ownersLock(client, 'it')
  const first = granted(await lock.tryLock())
  const { seen } = rig.proxy.onNextRequest(SHA.acquire, 'cutBefore')
  const second = granted(await lock.tryLock())
  expect(await second.release()).toBe(true)
  expect(await first.release()).toBe(true)
  const next = granted(await lock.tryLock())
  await rig.proxy.replay(await seen)
  expect(await rig.hash('it')).toEqual({ [next.owner]: '1' })
  expect(await lock.holdCount()).toBe(1)
  expect(await next.release()).toBe(true)
})

describe('a re-entry that is retried after the outer acquisition was released', () => {
  /** Loses all requests to acquire the lock until the returned function is called. */
  function loseAcquisitions(): () => void {
    const traps = Array.from({ length: 100 }, () =>
      rig.proxy.onNextRequest(SHA.acquire, 'cutBefore'),
    )
    return () => {
      for (const trap of traps) trap.cancel()
    }
  }

  async function reenterLate(meanwhile: (owner: string) => Promise<unknown>) {
    const client = rig.client({ commandTimeoutMs: 1_000, outageMs: 10_000 })
    const lock = ownersLock(client, 'it')
    const first = granted(await lock.tryLock())
    const goOn = loseAcquisitions()
    const again = outcome(lock.lock())
    await eventually(() => rig.proxy.count(SHA.acquire) >= 2)
    expect(await within(5_000, first.release())).toBe(true)
    await eventually(async () => (await rig.hash('it'))[first.owner] === '1')
    await meanwhile(first.owner)
    goOn()
    return { first, ...(await within(8_000, again)) }
  }

  test('gets the hold, with its token', async () => {
    const { first, value } = await reenterLate(async () => {})
    expect(value?.token).toBe(first.token)
    expect(await rig.hash('it')).toEqual({ [first.owner]: '1' })
    expect(await value?.release()).toBe(true)
    expect(await rig.exists('it')).toBe(false)
  })

  test('does not acquire the lock again when the hold is gone', async () => {
    const { error } = await reenterLate(() => rig.server.admin.del('it'))
    expect(error).toMatchObject({ code: 'HOLDFAST_LEASE_LOST', reason: 'gone' })
    expect(await rig.exists('it')).toBe(false)
  })

  test('does not join a later hold of the same owner name', async () => {
    const { error } = await reenterLate(async (owner) => {
      await rig.server.admin.incrby('redisson_lock_token:{it}', 5)
      await rig.server.admin.hset('it', owner, '1')
    })
    expect(error).toMatchObject({ code: 'HOLDFAST_LEASE_LOST', reason: 'gone' })
    await rig.server.admin.del('it')
  })
})
