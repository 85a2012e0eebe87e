import { setMaxListeners } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { LocalLocks } from '../../src/local/local-locks.ts'
import { Heartbeat } from '../../src/locks/fair/heartbeat.ts'
import { eventually, never } from '../support/eventually.ts'
import { faultRig, granted, outcome, SHA, within } from '../support/fault-rig.ts'
import { asked } from './asked.ts'

/** The state of a client and its requests for its fair waiters. */
const rig = faultRig()

const NOISE_MS = 1_000

afterEach(() => jest.restoreAllMocks())

/** Shows which waiters the heartbeats contain, and which local locks exist. */
function watch() {
  const lines = new Set<unknown>()
  const joins = jest.spyOn(Heartbeat.prototype, 'join')
  const leaves = jest.spyOn(Heartbeat.prototype, 'remove')
  const lookUps = jest.spyOn(LocalLocks.prototype, 'lock')
  return {
    lines() {
      const calls = [
        ...joins.mock.calls.map(([line], i) => ({ line, joins: true, at: order(joins, i) })),
        ...leaves.mock.calls.map(([line], i) => ({ line, joins: false, at: order(leaves, i) })),
      ]
      for (const { line, joins } of calls.sort((a, b) => a.at - b.at)) {
        if (joins) lines.add(line)
        else lines.delete(line)
      }
      return lines.size
    },
    kept: (names: string[]) =>
      names.filter((name) =>
        (lookUps.mock.contexts as unknown as LocalLocks[]).some((locks) => locks.find(name)),
      ),
  }
}

const order = (spy: { mock: { invocationCallOrder: number[] } }, i: number) =>
  spy.mock.invocationCallOrder[i] ?? 0

test('a client keeps nothing of a wait that is over, however the wait ended', async () => {
  const watching = watch()
  const client = rig.client()
  const names = Array.from({ length: 30 }, (_, n) => `name ${n}`)
  const witness = rig.witness()
  await Promise.all(
    names.map(async (name, n) => {
      const held = await witness.getFairLock(name).lock()
      const lock = client.getFairLock(name)
      const leaving = new AbortController()
      const ways = [
        () => lock.tryLock(),
        () => lock.tryLock(50),
        () => lock.lock({ signal: leaving.signal }),
        () => lock.lock().then((lease) => lease.release()),
        () => lock.using(() => pause(300), { leaseMs: 200 }), // the lease expires
      ]
      const end = outcome<unknown>(ways[n % ways.length]?.() ?? Promise.resolve())
      if (n % ways.length > 1) await rig.queued(name, 1)
      leaving.abort()
      if (n % ways.length > 2) await held.release()
      await end
      await held.release()
    }),
  )
  await eventually(() => watching.kept(names).length === 0, { message: 'all to be forgotten' })
  expect(watching.lines()).toBe(0)
})

test('the client leaves its inbox and stops its heartbeat soon after its last wait', async () => {
  const client = rig.client({ commandTimeoutMs: 5_000 })
  const held = await rig.witness().getFairLock('it').lock()
  const pending = client.getFairLock('it').lock()
  await rig.queued('it', 1)
  await rig.hears(client)
  await held.release()
  const lease = await pending
  await rig.hears(client, 'not')
  const beats = rig.proxy.count(SHA.heartbeat)
  await never(() => rig.proxy.count(SHA.heartbeat) > beats, 700)
  expect(lease.valid).toBe(true)
  await lease.release()
})

test('failed `tryLock()` calls do not make a client forget its waiter', async () => {
  const watching = watch()
  const client = rig.client()
  const held = await rig.witness().getFairLock('it').lock()
  const pending = client.getFairLock('it').lock()
  await rig.queued('it', 1)
  for (let n = 0; n < 3; n++) {
    expect(await client.getFairLock('it').tryLock()).toBeNull()
    expect(await client.getLock('it').tryLock()).toBeNull()
    expect(await client.getFairLock('it').tryLock(1_000)).toBeNull()
    expect(watching.kept(['it'])).toEqual(['it'])
  }
  await held.release()
  const lease = await within(NOISE_MS, pending)
  expect(await client.getFairLock('it').tryLock()).toBeNull()
  await lease.release()
  await eventually(() => watching.kept(['it']).length === 0)
  expect(watching.lines()).toBe(0)
})

test('a hundred waiters of one turn ask once each, in a few requests, and share one heartbeat', async () => {
  const client = rig.client({ commandTimeoutMs: 5_000 })
  const held = await rig.witness({ leaseMs: 60_000 }).getFairLock('it').lock()
  const leaving = new AbortController()
  const { signal } = leaving
  setMaxListeners(0, signal)
  const lock = client.getFairLock('it')
  const pending = Array.from({ length: 100 }, () => outcome(lock.lock({ signal })))
  await rig.queued('it', 100)
  const start = performance.now()
  const before = rig.proxy.count(SHA.heartbeat)
  await pause(1_600)
  const most = Math.ceil((performance.now() - start) / 500) + 1
  expect(asked(rig)).toBeGreaterThanOrEqual(100)
  // The client sends one more request when it begins to listen for releases by other clients.
  expect(asked(rig)).toBeLessThanOrEqual(101)
  expect(rig.proxy.count(SHA.acquireFair) + rig.proxy.count(SHA.batchFair)).toBeLessThan(10)
  expect(rig.proxy.count(SHA.heartbeat) - before).toBeGreaterThan(0)
  expect(rig.proxy.count(SHA.heartbeat) - before).toBeLessThanOrEqual(most)
  leaving.abort()
  await Promise.all(pending)
  await rig.queued('it', 0)
  expect(asked(rig)).toBeLessThanOrEqual(101)
  await held.release()
})

test('each hand-off between clients costs one release and one confirmation', async () => {
  const clients = Array.from({ length: 8 }, () => rig.client({ commandTimeoutMs: 5_000 }))
  const counts = () =>
    [SHA.acquireFair, SHA.renew, SHA.releaseFair].map((script) => rig.proxy.count(script))
  // On a busy machine, a client may repeat a request in one round. If hand-offs cost more, each round has more requests.
  await eventually(async () => {
    const before = counts()
    const held = await rig.witness().getFairLock('it').lock()
    const pending = []
    for (const [i, client] of clients.entries()) {
      pending.push(client.getFairLock('it').lock())
      await rig.queued('it', i + 1)
    }
    await Promise.all(clients.map((one) => rig.hears(one)))
    // Each client sends one request to queue, and no other request when it begins to listen for releases.
    await rig.listening('it', 8)
    await held.release()
    for (const one of pending) await (await within(2 * NOISE_MS, one)).release()
    await clients[0]?.getLock('it').inspect()
    expect(counts().map((count, i) => count - (before[i] as number))).toEqual([8, 8, 8])
    return true
  })
})

test('`forceUnlock()` of a lock with a queue wakes at most one waiter of each client', async () => {
  const clients = Array.from({ length: 4 }, () => rig.client({ commandTimeoutMs: 5_000 }))
  await rig.witness().getFairLock('it').lock()
  const pending = clients.flatMap((client) =>
    Array.from({ length: 5 }, () => client.getFairLock('it').lock()),
  )
  await rig.queued('it', 20)
  await rig.listening('it', 4)
  const askedOf = () => clients.map(({ id }) => asked(rig, `${id}:`))
  const before = askedOf()
  expect(before.every((count) => count >= 5)).toBe(true)
  await rig.witness().getFairLock('it').forceUnlock()
  await (await within(NOISE_MS, Promise.race(pending))).release()
  const leases = await Promise.all(
    pending.map(async (one) => {
      const lease = await within(5 * NOISE_MS, one)
      await lease.release()
      return lease.token
    }),
  )
  expect(new Set(leases).size).toBe(20)
  const woken = askedOf().map((count, i) => count - (before[i] as number))
  expect(Math.max(...woken)).toBe(1)
})

test('while a server answers with errors, the waiters of a client do not all repeat their requests', async () => {
  const client = rig.client({ commandTimeoutMs: 5_000, outageMs: 60_000 })
  const held = await rig.witness({ leaseMs: 60_000 }).getFairLock('it').lock()
  const leaving = new AbortController()
  const { signal } = leaving
  setMaxListeners(0, signal)
  const lock = client.getFairLock('it')
  const pending = Array.from({ length: 50 }, () => outcome(lock.lock({ signal })))
  await rig.queued('it', 50)
  const before = asked(rig)
  await rig.server.admin.config('SET', 'min-replicas-to-write', '1')
  try {
    await pause(2_000)
    // One of the waiters tries again from time to time. If all waiters tried again, there would be several hundred
    // requests.
    expect(asked(rig) - before).toBeLessThan(100)
  } finally {
    await rig.server.admin.config('SET', 'min-replicas-to-write', '0')
  }
  leaving.abort()
  await Promise.all(pending)
  await held.release()
})

test('a lease shorter than the round trip to Redis is an error after `outageMs`, and its key does not stay', async () => {
  const client = rig.client({ commandTimeoutMs: 500, outageMs: 1_500 })
  await granted(await client.getFairLock('warm').tryLock()).release()
  rig.proxy.delay(40)
  for (const lock of [client.getFairLock('it'), client.getLock('it')]) {
    const { error } = await outcome(within(5_000, lock.lock(40)))
    expect(error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
    await eventually(async () => !(await rig.exists('it')))
  }
})
