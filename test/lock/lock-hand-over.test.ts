import type { Holdfast, HoldfastLock, Lease } from '../../src/index.ts'
import { atLoad } from '../support/at-load.ts'
import { eventually } from '../support/eventually.ts'
import { faultRig, granted, SHA, within } from '../support/fault-rig.ts'

/** During its turn, a client hands a lock over from one of its callers to the next, without a request to Redis. */
const rig = faultRig()

/** Returns a function that waits until `count` callers of the client wait. */
function waiters(client: Holdfast, count: number): () => Promise<unknown> {
  let waiting = 0
  client.on('wait', () => {
    waiting += 1
  })
  return () => eventually(() => waiting === count, { message: `${count} waiting` })
}

/**
 * Acquires the lock, waits until `count` callers wait for it, and releases it. Each caller works while it holds the
 * lock.
 */
async function serve(
  client: Holdfast,
  lock: HoldfastLock,
  count: number,
  work: (lease: Lease, i: number) => Promise<unknown> | undefined = () => undefined,
  options: (i: number) => { leaseMs?: number } = () => ({}),
): Promise<Lease[]> {
  const leases: Lease[] = []
  const allWait = waiters(client, count)
  const held = await lock.lock()
  const served = Array.from({ length: count }, async (_, i) => {
    const lease = await lock.lock(options(i))
    leases.push(lease)
    await work(lease, i)
    await lease.release()
  })
  await allWait()
  await held.release()
  await within(10_000, Promise.all(served))
  return leases
}

const scriptsSent = () =>
  rig.proxy.requests.filter(({ args }) => Object.values(SHA).some((sha) => sha === args[0])).length

test('the waiters of one client get the lock one after another, without a script for each waiter', async () => {
  const client = rig.client()
  const before = scriptsSent()
  const leases = await serve(client, client.getLock('it'), 20)
  // There are 4 scripts on an idle machine. On a busy machine, the turn of a client is over after fewer waiters.
  expect(scriptsSent() - before).toBeLessThanOrEqual(Math.min(atLoad(10), leases.length - 1))
  const tokens = leases.map(({ token }) => token)
  expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b))
  const next = granted(await rig.witness().getLock('it').tryLock())
  expect(next.token).toBeGreaterThan(Math.max(...tokens))
  await next.release()
})

test('each caller has the owner and the hold count that Redis has, and at most the lease that Redis has', async () => {
  const client = rig.client({ leaseMs: 100_000 })
  await serve(client, client.getLock('it'), 10, async (lease) => {
    const left = lease.remaining()
    expect(await rig.hash('it')).toEqual({ [lease.owner]: '1' })
    expect(left).toBeGreaterThan(90_000)
    expect(await rig.server.admin.pttl('it')).toBeGreaterThan(lease.remaining())
  })
})

test('a re-entry of one caller is not passed to the next caller', async () => {
  const client = rig.client()
  const lock = client.getLock('it', { owner: client.owner() })
  const other = client.getLock('it')
  const held = await other.lock()
  const allWait = waiters(client, 3)
  const owners: string[] = []
  const simple = async () => {
    const lease = await other.lock()
    owners.push(lease.owner)
    await lease.release()
  }
  const nested = async () => {
    const lease = await lock.lock()
    owners.push(lease.owner)
    const again = await lock.lock()
    await again.release()
    await lease.release()
  }
  const served = [simple(), nested(), simple()]
  await allWait()
  await held.release()
  await within(10_000, Promise.all(served))
  expect(owners[2]).not.toBe(owners[1])
})

test('an extended lease is not passed to the next caller', async () => {
  const client = rig.client()
  const left: number[] = []
  await serve(client, client.getLock('it'), 6, async (lease) => {
    left.push(await rig.server.admin.pttl('it'))
    await lease.extend(60_000)
  })
  for (const ms of left) expect(ms).toBeLessThanOrEqual(10_000)
})

test('each caller gets the lease that it requested', async () => {
  const client = rig.client()
  const leaseMs = (i: number) => (i % 2 === 0 ? 30_000 : 50_000)
  await serve(
    client,
    client.getLock('it'),
    6,
    async (_, i) => {
      const left = await rig.server.admin.pttl('it')
      expect(left).toBeLessThanOrEqual(leaseMs(i))
      expect(left).toBeGreaterThan(leaseMs(i) - 15_000)
    },
    (i) => ({ leaseMs: leaseMs(i) }),
  )
})

test('a fixed lease that is partly used is not passed to the next caller', async () => {
  const client = rig.client()
  const owners = new Set<string>()
  const work = async ({ owner }: Lease) => {
    owners.add(owner)
    await rig.server.admin.ping()
    const start = performance.now()
    while (performance.now() - start < 2.5) {} // more than a fiftieth of the lease, and less than a turn
  }
  await serve(client, client.getLock('it'), 4, work, () => ({ leaseMs: 100 }))
  expect(owners.size).toBe(4)
})

test('after a forced unlock at most one caller gets an older token than the new holder, and loses the lock', async () => {
  const client = rig.client({ leaseMs: 2_000 })
  const witness = rig.witness()
  let theirs: Lease | undefined
  const after: Lease[] = []
  await serve(client, client.getLock('it'), 6, async (lease, i) => {
    if (theirs !== undefined) {
      after.push(lease)
      // One caller may acquire the lock before the client knows of the loss. Its signal then aborts.
      if (lease.token < theirs.token) await eventually(() => lease.signal.aborted)
      else expect(theirs.valid).toBe(false)
    } else if (i === 2) {
      await witness.getLock('it').forceUnlock()
      theirs = granted(await witness.getLock('it').tryLock())
      setTimeout(() => theirs?.release(), 300)
    }
  })
  expect(after).toHaveLength(3)
  expect(after.filter(({ token }) => token < (theirs?.token ?? 0)).length).toBeLessThanOrEqual(1)
})

test.each(['later', 'sooner'])(
  'a call that was made %s than the lock was deleted holds the lock only until the next check',
  async (when) => {
    const leaseMs = 60_000 // no other check of the lock comes soon
    const client = rig.client({ leaseMs, commandTimeoutMs: 2_000, outageMs: 10_000 })
    const lock = client.getLock('it')
    await (await lock.lock()).release()
    for (let tries = 0; ; tries++) {
      const held = await lock.lock()
      const following = lock.lock()
      await held.release()
      const lease = await following
      const sooner = when === 'sooner' ? lock.lock() : undefined
      const deleted = rig.server.admin.del('it')
      const later = sooner ?? lock.lock()
      // The check after the hand-over must come after the deletion.
      await deleted
      await lease.release().catch(() => false)
      const passed = await within(5_000, later)
      // A turn ends after a few milliseconds. So on a busy machine, Redis may hand the lock over instead of the client.
      const wasPassedOn = passed.owner === lease.owner && passed.token === lease.token + 1
      if (wasPassedOn) {
        await eventually(() => passed.signal.aborted, { timeoutMs: 3_000 })
        expect(passed.signal.reason).toMatchObject({ reason: 'gone' })
        await passed.release()
        break
      }
      await passed.release()
      if (tries === 1_000) throw new Error('It was never passed on')
    }
  },
)

test('waiters from before the last grant receive the lock without a check of Redis', async () => {
  // After a late answer, the client would check its holds.
  const client = rig.client({ commandTimeoutMs: 20_000, outageMs: 20_000 })
  const looks = rig.proxy.count(SHA.renew)
  await serve(client, client.getLock('it'), 20)
  expect(rig.proxy.count(SHA.renew)).toBe(looks)
})

test('tokens rise even when the reply to a grant was lost', async () => {
  const client = rig.client()
  const lock = client.getLock('it')
  const held = await rig.witness().getLock('it').lock()
  const allWait = waiters(client, 4)
  const tokens = [held.token]
  const served = [1, 2, 3, 4].map(async () => {
    const lease = await lock.lock()
    tokens.push(lease.token)
    await lease.release()
  })
  await allWait()
  await rig.listening('it')
  rig.proxy.onNextRequest(SHA.acquire, 'cutAfter')
  await held.release()
  await within(10_000, Promise.all(served))
  const next = granted(await rig.witness().getLock('it').tryLock())
  tokens.push(next.token)
  await next.release()
  expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b))
})

test('no caller gets a token that Redis has not given out', async () => {
  const lock = rig.client().getLock('it')
  for (let i = 0; i < 10; i += 1) {
    const held = await lock.lock()
    const following = lock.lock()
    expect(await held.release()).toBe(true)
    const next = await following
    const last = Number(await rig.server.admin.get('redisson_lock_token:{it}'))
    expect(last).toBeGreaterThanOrEqual(next.token)
    await next.release()
  }
})
