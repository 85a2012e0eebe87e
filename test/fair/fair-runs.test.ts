import { setTimeout as pause } from 'node:timers/promises'
import type { Holdfast, HoldfastLock, Lease } from '../../src/index.ts'
import { deferred } from '../support/deferred.ts'
import { eventually } from '../support/eventually.ts'
import { Diary, faultRig, outcome, SHA, within } from '../support/fault-rig.ts'
import type { Action } from '../support/proxy.ts'
import { takes } from '../support/takes.ts'
import { requests } from './asked.ts'
import { Queue, SOON_MS, type Turn } from './turns.ts'

/** A run: the client serves its consecutive waiters at the head of the queue without a request between them. */
const rig = faultRig()

const CLAIM_MS = 1_500
/** The extra time of a busy machine, in milliseconds. */
const NOISE_MS = 1_000

async function holding(client: Holdfast): Promise<Lease> {
  return client.getFairLock('it').lock()
}

const NAMES = ['a1', 'a2', 'a3', 'a4', 'a5']

/** A client whose runs end neither by the time limit of a request nor by the age of its lease, on a slow machine. */
const patient = () => rig.client({ commandTimeoutMs: 10_000, leaseMs: 60_000 })

test('five consecutive waiters of a client that releases need one release and one confirmation', async () => {
  const client = patient()
  const held = await holding(client)
  const queue = new Queue(rig)
  await queue.joinAll(NAMES, () => client)
  await held.release()
  await queue.served()
  expect(queue.order).toEqual(NAMES)
  expect(queue.turns[0]?.token).toBeGreaterThan(held.token)
  // The requests of the first holder and of the five waiters, and two releases: one starts the run, one ends it.
  expect(requests(rig)).toEqual({ asked: 6, released: 2, confirmed: 1 })
  expect(await rig.queue('it')).toEqual([])
  expect(await rig.exists('it')).toBe(false)
})

test('a run that lasts longer than its confirmation is served without further requests', async () => {
  const client = patient()
  const held = await holding(client)
  const queue = new Queue(rig)
  await queue.joinAll(
    NAMES,
    () => client,
    () => pause(10),
  )
  await held.release()
  await queue.served()
  expect(queue.order).toEqual(NAMES)
  expect(requests(rig)).toMatchObject({ released: 2, confirmed: 1 })
})

test('the waiters of two clients are served in the order in which they came', async () => {
  const clients: Record<string, Holdfast> = { a: rig.client(), b: rig.client() }
  const held = await holding(clients.a as Holdfast)
  const queue = new Queue(rig)
  const names = ['a1', 'a2', 'b1', 'a3', 'b2', 'b3', 'b4', 'a4', 'a5', 'a6', 'b5']
  await queue.joinAll(
    names,
    (who) => clients[who[0] as string] as Holdfast,
    () => pause(2),
  )
  await held.release()
  await queue.served()
  expect(queue.order).toEqual(names)
  expect(await rig.queue('it')).toEqual([])
})

test('a waiter of another client that comes during a run is behind the run, and before later waiters', async () => {
  const client = patient()
  const other = rig.witness()
  const held = await holding(client)
  const queue = new Queue(rig)
  await queue.join('a1', client)
  const second = client.getFairLock('it').lock()
  await rig.queued('it', 2)
  await queue.join('a3', client)
  await held.release()
  const lease = await within(SOON_MS, second)
  await queue.join('b', other)
  await queue.join('a4', client)
  // The place of `second` is in the queue until the release that ends the run.
  expect(await rig.queue('it')).toHaveLength(4)
  await lease.release()
  await queue.served()
  expect(queue.order).toEqual(['a1', 'a3', 'b', 'a4'])
})

test('other clients see the hold of a run, and the waiters behind it', async () => {
  const client = rig.client()
  const held = await holding(client)
  const queue = new Queue(rig)
  let seen: unknown
  await queue.join('a1', client)
  await queue.join('a2', client, async (lease) => {
    const { holder, queueLength } = await rig.witness().getFairLock('it').inspect()
    seen = { isHeld: holder === lease.owner, isBehind: queueLength >= 1, valid: lease.valid }
    expect(await rig.hash('it')).toEqual({ [lease.owner]: '1' })
  })
  await queue.join('a3', client)
  await held.release()
  await queue.served()
  expect(seen).toEqual({ isHeld: true, isBehind: true, valid: true })
})

test.each([
  { how: 'an abort', leave: (leaving: AbortController) => leaving.abort(), waitMs: 60_000 },
  { how: 'its wait timeout', leave: () => pause(400), waitMs: 300 },
])(
  'a waiter that leaves a run by $how is passed over, and leaves no place',
  async ({ leave, waitMs }) => {
    const client = patient()
    const held = await holding(client)
    const queue = new Queue(rig)
    const leaving = new AbortController()
    await queue.join('a1', client, () => leave(leaving))
    const end = outcome(client.getFairLock('it').tryLock({ waitMs, signal: leaving.signal }))
    await rig.queued('it', 2)
    await queue.join('a3', client)
    await queue.join('a4', client)
    await held.release()
    await queue.served()
    expect(queue.order).toEqual(['a1', 'a3', 'a4'])
    expect((await end).value ?? null).toBeNull()
    await eventually(async () => (await rig.queue('it')).length === 0)
    // Two releases start and end the run, and one release removes the place of the waiter that has left.
    expect(requests(rig)).toMatchObject({ released: 3, confirmed: 1 })
    expect(await rig.exists('it')).toBe(false)
  },
)

test('a waiter that is aborted in the step that passes the lock on passes the lock on again', async () => {
  const client = rig.client()
  const held = await holding(client)
  const queue = new Queue(rig)
  const leaving = new AbortController()
  await queue.join('a1', client)
  client.on('released', ({ token }) => {
    if (token === queue.turns[0]?.token) leaving.abort()
  })
  const end = outcome(client.getFairLock('it').lock({ signal: leaving.signal }))
  await rig.queued('it', 2)
  await queue.join('a3', client)
  await held.release()
  await queue.served()
  expect((await end).error).toBe(leaving.signal.reason)
  await eventually(async () => !(await rig.exists('it')))
  expect(await rig.queue('it')).toEqual([])
})

describe('the last release of a run', () => {
  test.each<Action>(['cutBefore', 'cutAfter', 'mute', 'duplicate'])(
    '%s: the next client is served, and no place is left',
    async (action) => {
      const client = rig.client()
      const held = await holding(client)
      const queue = new Queue(rig)
      let trap: { done: Promise<void> } | undefined
      await queue.join('a1', client)
      await queue.join('a2', client)
      await queue.join('a3', client, () => {
        trap = rig.proxy.onNextRequest(SHA.releaseFair, action)
      })
      await queue.join('b', rig.witness())
      await held.release()
      await queue.served()
      await trap?.done
      expect(queue.order).toEqual(['a1', 'a2', 'a3', 'b'])
      await eventually(async () => (await rig.queue('it')).length === 0)
      expect(await rig.exists('it')).toBe(false)
    },
  )
})

test.each<Action>(['cutBefore', 'cutAfter', 'mute', 'duplicate'])(
  'the release that begins a run, %s: all waiters are served in order',
  async (action) => {
    const client = rig.client()
    const held = await holding(client)
    const queue = new Queue(rig)
    await queue.joinAll(NAMES, () => client)
    const trap = rig.proxy.onNextRequest(SHA.releaseFair, action)
    await held.release()
    await trap.done
    await queue.served()
    expect(queue.order).toEqual(NAMES)
    await eventually(async () => (await rig.queue('it')).length === 0)
    expect(await rig.exists('it')).toBe(false)
  },
)

describe('the confirmation of a run', () => {
  test.each<Action>(['cutBefore', 'cutAfter', 'mute', 'duplicate'])(
    '%s: the lease of a later hold of the run still lasts',
    async (action) => {
      const client = rig.client()
      const diary = new Diary(client)
      const held = await holding(client)
      const queue = new Queue(rig)
      const trap = rig.proxy.onNextRequest(SHA.renew, action)
      await queue.join('a1', client)
      await queue.join('a2', client, async (lease) => {
        await eventually(() => lease.remaining() > 5_000)
        await pause(CLAIM_MS)
        expect(lease.valid).toBe(true)
        expect(await rig.server.admin.pttl('it')).toBeGreaterThan(5_000)
      })
      await held.release()
      await trap.done
      await queue.served()
      expect(queue.order).toEqual(['a1', 'a2'])
      expect(diary.lost).toEqual([])
    },
  )

  test('a later hold of the run learns from the answer that the lock is gone', async () => {
    const client = rig.client()
    const diary = new Diary(client)
    const held = await holding(client)
    const queue = new Queue(rig)
    const trap = rig.proxy.onNextRequest(SHA.renew, 'hold')
    let second = 0
    await queue.join('a1', client)
    await queue.join('a2', client, async (lease) => {
      second = lease.token
      await rig.server.admin.del('it')
      trap.release()
      await eventually(() => lease.signal.aborted)
    })
    await held.release()
    await Promise.allSettled(queue.ends)
    expect(diary.lost).toEqual([second])
  })
})

test('a hold of a run that is taken by force is followed by the next client, whose token is greater', async () => {
  const client = rig.client()
  const diary = new Diary(client)
  const witness = rig.witness()
  const held = await holding(client)
  const queue = new Queue(rig)
  const turns: Turn[] = []
  await queue.join('a1', client)
  const second = client.getFairLock('it').lock()
  await rig.queued('it', 2)
  const behind = witness.getFairLock('it').lock()
  await rig.queued('it', 3)
  await held.release()
  const lease = await within(SOON_MS, second)
  expect(await witness.getFairLock('it').forceUnlock()).toBe(true)
  // The place of `lease` is still in the queue. The client refuses a grant to this place.
  const next = await within(SOON_MS, behind)
  turns.push({ who: 'b', token: next.token })
  expect(next.token).toBeGreaterThan(lease.token)
  expect(await lease.release()).toBe(false)
  expect(diary.lost).toEqual([lease.token])
  expect(await rig.hash('it')).toEqual({ [next.owner]: '1' })
  expect(await next.release()).toBe(true)
  await eventually(async () => (await rig.queue('it')).length === 0)
})

test('an own `forceUnlock()` during a run ends the hold, and the other waiters get later tokens', async () => {
  const client = rig.client()
  const held = await holding(client)
  const first = client.getFairLock('it').lock()
  await rig.queued('it', 1)
  const second = client.getFairLock('it').lock()
  await rig.queued('it', 2)
  const third = client.getFairLock('it').lock()
  await rig.queued('it', 3)
  await held.release()
  await (await within(SOON_MS, first)).release()
  const lease = await within(SOON_MS, second)
  expect(await client.getFairLock('it').forceUnlock()).toBe(true)
  expect(lease.signal.reason).toMatchObject({ reason: 'forced' })
  const next = await within(SOON_MS, third)
  expect(next.token).toBeGreaterThan(lease.token)
  expect(await rig.hash('it')).toEqual({ [next.owner]: '1' })
  expect(await next.release()).toBe(true)
  await eventually(async () => (await rig.queue('it')).length === 0)
})

test('a client that dies in a run delays the next client until its lease ends, and no longer', async () => {
  const leaseMs = 4_500
  const client = rig.client({ leaseMs })
  const held = await holding(client)
  const queue = new Queue(rig)
  await queue.joinAll(['a1', 'a2'], () => client)
  const last = client.getFairLock('it').lock()
  await rig.queued('it', 3)
  const later = outcome(client.getFairLock('it').lock())
  await rig.queued('it', 4)
  const behind = rig.witness().getFairLock('it').lock()
  await rig.queued('it', 5)
  await held.release()
  await within(SOON_MS, last)
  const hole = rig.proxy.blackHole({ onHeal: 'drop' })
  const next = await takes({ atMost: leaseMs + NOISE_MS }, behind)
  await next.release()
  hole.heal()
  await (await within(SOON_MS, later)).value?.release()
})

test('a client that closes in a run hands the lock off to the next client', async () => {
  const client = rig.client()
  const held = await holding(client)
  const queue = new Queue(rig)
  await queue.join('a1', client)
  const second = client.getFairLock('it').lock()
  await rig.queued('it', 2)
  const third = outcome(client.getFairLock('it').lock())
  await rig.queued('it', 3)
  const behind = rig.witness().getFairLock('it').lock()
  await rig.queued('it', 4)
  await held.release()
  await within(SOON_MS, second)
  await client.close()
  expect((await third).error).toMatchObject({ code: 'HOLDFAST_CLOSED' })
  await (await within(NOISE_MS, behind)).release()
  expect(await rig.queue('it')).toEqual([])
})

describe('a release of the server is needed between two waiters of a client', () => {
  type Acquire = (lock: HoldfastLock) => Promise<Lease>
  const cases: [string, Acquire, (lease: Lease) => unknown, number][] = [
    ['after `extend()`', (lock) => lock.lock(), (lease) => lease.extend(90_000), 3],
    ['if the next waiter wants a fixed lease', (lock) => lock.lock(60_000), () => {}, 4],
  ]
  test.each(cases)('%s', async (_, acquire, work, released) => {
    const client = patient()
    const held = await holding(client)
    const queue = new Queue(rig)
    await queue.join('a1', client)
    const second = acquire(client.getFairLock('it'))
    await rig.queued('it', 2)
    await queue.join('a3', client)
    await held.release()
    const lease = await within(SOON_MS, second)
    await work(lease)
    expect(queue.order).toEqual(['a1'])
    await lease.release()
    await queue.served()
    expect(queue.order).toEqual(['a1', 'a3'])
    expect(requests(rig).released).toBe(released)
    expect(await rig.exists('it')).toBe(false)
  })
})

test('a run has at most 63 waiters behind the first one', async () => {
  const client = patient()
  const held = await holding(client)
  const queue = new Queue(rig)
  const names = Array.from({ length: 70 }, (_, i) => `a${i}`)
  await queue.joinAll(names, () => client)
  await held.release()
  await queue.served()
  expect(queue.order).toEqual(names)
  expect(requests(rig)).toMatchObject({ released: 3, confirmed: 2 })
})

test('each leader of an election has a new grant, even if the candidates belong to one client', async () => {
  const client = patient()
  const isQueued = deferred<void>()
  const terms: { owner: string; holders: string[] }[] = []
  const leading = [0, 1, 2, 3].map(() =>
    client.getLeaderElection('it').lead(async ({ owner }) => {
      if (terms.length === 0) await isQueued.promise
      terms.push({ owner, holders: Object.keys(await rig.hash('it')) })
    }),
  )
  await rig.queued('it', 3)
  isQueued.resolve()
  await within(SOON_MS, Promise.all(leading))
  expect(new Set(terms.map(({ owner }) => owner)).size).toBe(4)
  for (const { owner, holders } of terms) expect(holders).toEqual([owner])
})
