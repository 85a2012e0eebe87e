import { setTimeout as pause } from 'node:timers/promises'
import type { Holdfast, Lease } from '../../src/index.ts'
import { atLoad } from '../support/at-load.ts'
import { eventually } from '../support/eventually.ts'
import { faultRig, granted, outcome, SHA, within } from '../support/fault-rig.ts'
import { warm } from '../support/warm.ts'
import { asked } from './asked.ts'

/** The costs of thousands of waiters in one client. All of them are served. */
const rig = faultRig()

/** The maximum number of places in one request. */
const MOST_IN_ONE = 500

/** Much longer than a busy machine needs. */
const SOON_MS = 100_000

const QUEUE = 'holdfast_queue:{it}'

/**
 * Starts calls that wait. Each call has its own signal, because one signal for thousands of calls is slow in Node.js.
 */
function waits(client: Holdfast, size: number) {
  const lock = client.getFairLock('it')
  const leaving = Array.from({ length: size }, () => new AbortController())
  const pending = leaving.map(({ signal }) => lock.lock({ signal }))
  const ends = pending.map((one) => outcome(one))
  return {
    pending,
    ends,
    abort() {
      for (const one of leaving) one.abort()
      return Promise.all(ends)
    },
  }
}

const places = (size: number) =>
  eventually(async () => (await rig.server.admin.zcard(QUEUE)) === size, {
    timeoutMs: SOON_MS,
    message: `${size} places in the queue`,
  })

/** Queues this many waiters for a lock that another client holds. */
async function crowd(client: Holdfast, size: number) {
  const held = await rig.witness({ leaseMs: 60_000 }).getFairLock('it').lock()
  const { pending, abort } = waits(client, size)
  await places(size)
  return {
    held,
    pending,
    async leave() {
      await abort()
      await places(0)
      await held.release()
    },
  }
}

/** The number of places in each heartbeat so far. */
const beats = () =>
  rig.proxy.requests
    .filter(({ args }) => args[0] === SHA.heartbeat)
    .map(({ args }) => Number(args[2 + Number(args[1]) + 8]))

test('no heartbeat contains more than 500 places, and every place is in a heartbeat sooner or later', async () => {
  const client = rig.client({ commandTimeoutMs: 10_000 })
  const { leave } = await crowd(client, 1_200)
  const owners = await rig.queue('it')
  const told = new Set<string>()
  await eventually(
    () => {
      for (const { args } of rig.proxy.requests) {
        if (args[0] === SHA.heartbeat) for (const arg of args) told.add(arg)
      }
      return owners.every((owner) => told.has(owner))
    },
    { timeoutMs: SOON_MS },
  )
  expect(Math.max(...beats())).toBeLessThanOrEqual(MOST_IN_ONE)
  await leave()
})

test.each([
  ['all places of a queue', () => rig.server.admin.del(QUEUE, 'holdfast_waiting:{it}')],
  ['the first places', () => rig.server.admin.zremrangebyrank(QUEUE, 0, 799)],
  ['the first place', () => rig.server.admin.zremrangebyrank(QUEUE, 0, 0)],
  ['some places in the middle', () => rig.server.admin.zremrangebyrank(QUEUE, 600, 800)],
  ['the last places', () => rig.server.admin.zremrangebyrank(QUEUE, 1_000, -1)],
])('%s that went missing are put back in order', async (_, lose) => {
  const client = rig.client({ commandTimeoutMs: 10_000 })
  const { leave } = await crowd(client, 1_200)
  const then = await rig.server.admin.zrange(QUEUE, '0', '-1', 'WITHSCORES')
  expect(await lose()).toBeGreaterThan(0)
  await eventually(async () => (await rig.server.admin.zcard(QUEUE)) === 1_200, {
    timeoutMs: SOON_MS,
  })
  expect(await rig.server.admin.zrange(QUEUE, '0', '-1', 'WITHSCORES')).toEqual(then)
  expect(Math.max(...beats())).toBeLessThanOrEqual(MOST_IN_ONE)
  await leave()
})

test('when the first places are missing, the client sends all places in heartbeats without a pause', async () => {
  const client = rig.client({ commandTimeoutMs: 60_000, outageMs: SOON_MS })
  const { leave } = await crowd(client, 6_000)
  const [first] = await rig.queue('it')
  const before = rig.proxy.requests.length
  await rig.server.admin.del(QUEUE, 'holdfast_waiting:{it}')
  await places(6_000)
  // Every half second, a heartbeat contains the first places and up to 500 others. If the client always waited this
  // long, it would need eleven of these heartbeats.
  const ticks = rig.proxy.requests
    .slice(before)
    .filter(({ args }) => args[0] === SHA.heartbeat && args.includes(first as string))
  expect(ticks.length).toBeGreaterThan(0)
  expect(ticks.length).toBeLessThan(10)
  await leave()
})

test('a waiter that leaves while the client puts places back is not put back', async () => {
  const client = rig.client({ commandTimeoutMs: 10_000 })
  const { leave } = await crowd(client, 1_000)
  const { abort } = waits(client, 700)
  await places(1_700)
  const stay = (await rig.queue('it')).slice(0, 1_000)
  const beat = rig.proxy.onNextRequest(SHA.heartbeat, 'hold')
  await rig.server.admin.del(QUEUE, 'holdfast_waiting:{it}')
  await beat.seen
  const left = abort()
  beat.release()
  await left
  await places(1_000)
  await pause(1_500) // Wait for some more heartbeats.
  expect(await rig.queue('it')).toEqual(stay)
  await leave()
})

test('a client serves 1,200 waiters in their order, and few of them send a second request', async () => {
  const client = rig.client({ commandTimeoutMs: 10_000 })
  const { held, pending } = await crowd(client, 1_200)
  const before = asked(rig)
  await held.release()
  const order: Lease[] = []
  const work = pending.map(async (one) => {
    const lease = await one
    order.push(lease)
    expect(lease.valid).toBe(true)
    await lease.release()
  })
  await within(4 * SOON_MS, Promise.all(work))
  const tokens = order.map(({ token }) => token)
  expect(tokens).toEqual([...tokens].sort((a, b) => a - b))
  const inOrder = await Promise.all(pending)
  expect(order.map(({ owner }) => owner)).toEqual(inOrder.map(({ owner }) => owner))
  expect(asked(rig) - before).toBeLessThan(400)
})

test('the heartbeat finds a grant whose message was lost, even for a waiter far behind in the queue of its client', async () => {
  const client = rig.client({ commandTimeoutMs: 10_000 })
  const { held, pending, leave } = await crowd(client, 1_200)
  const place = (await rig.queue('it'))[1_100] as string
  // After a restart with partial data, this place may be the first of the queue. Its message is lost.
  await rig.server.admin.zadd(QUEUE, 1, place)
  const hole = rig.proxy.blackHole({ only: 'subscriber' })
  await held.release()
  const lease = await within(SOON_MS, Promise.race(pending))
  expect(lease.owner).toBe(place)
  hole.heal()
  const rest = leave()
  await lease.release()
  await rest
})

describe('thousands of waiters that begin at the same time', () => {
  test('waiters of a client that is not connected yet get their places with about one request each', async () => {
    // The client must create and send thousands of requests within these limits.
    const limits = { commandTimeoutMs: atLoad(500), outageMs: atLoad(5_000) }
    const client = rig.client(limits)
    const size = 3_000
    const { held } = await crowd(client, size)
    // If the calls block the event loop for longer than `commandTimeoutMs`, the first waiters repeat their requests.
    expect(asked(rig)).toBeLessThan(size + 500)
    await client.close()
    await rig.server.admin.del(QUEUE, 'holdfast_waiting:{it}')
    await held.release()
  })

  test('all waiters get an error in an outage, even waiters that have sent no request yet', async () => {
    const client = rig.client({ commandTimeoutMs: 200, outageMs: 1_000 })
    await warm(client)
    rig.proxy.blackHole({ only: 'commands', onHeal: 'drop' })
    const lock = client.getFairLock('it')
    const { ends } = waits(client, 1_000)
    const trying = Array.from({ length: 1_000 }, () => outcome(lock.tryLock(500)))
    for (const { error } of await within(SOON_MS, Promise.all([...ends, ...trying]))) {
      expect(error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
    }
  })

  test('all waiters leave when they are aborted, even waiters that have sent no request yet', async () => {
    const client = rig.client({ commandTimeoutMs: 10_000 })
    await granted(await client.getFairLock('warm').tryLock()).release()
    const hole = rig.proxy.blackHole({ only: 'commands' })
    const { abort } = waits(client, 1_000)
    for (const { error } of await within(SOON_MS, abort())) {
      expect(error).toMatchObject({ name: 'AbortError' })
    }
    hole.heal()
    await eventually(async () => !(await rig.exists('it')), { timeoutMs: SOON_MS })
    await places(0)
    await (await within(SOON_MS, client.getFairLock('it').lock())).release()
  })
})

describe('a lock with a long queue', () => {
  async function longQueue(size: number) {
    const tickets = Array.from({ length: size }, (_, i) => [1_800_000_000_000_000 + i, `c:${i}`])
    await rig.server.admin.zadd(QUEUE, ...tickets.flat())
    await rig.server.admin.pexpire(QUEUE, 20_000)
    await rig.server.admin.config('RESETSTAT')
  }

  /** Returns the number of calls of each command since the last RESETSTAT. */
  async function asked() {
    const stats = await rig.server.admin.info('commandstats')
    const counts = [...stats.matchAll(/cmdstat_(\S+?):calls=(\d+)/g)].filter(
      ([, command]) => !command?.startsWith('config'),
    )
    return Object.fromEntries(counts.map(([, command, calls]) => [command, Number(calls)]))
  }

  test('with 5,000 waiters, only `inspect()` reads the queue; other methods read the holder alone', async () => {
    const lock = rig.witness().getFairLock('it')
    const looks = [
      () => lock.isLocked(),
      () => lock.isHeld(),
      () => lock.holdCount(),
      () => lock.remainingMs(),
    ]
    for (const look of looks) await look()
    await longQueue(5_000)
    for (const look of looks) expect([false, 0]).toContain(await look())
    expect(await asked()).toEqual({ evalsha: 4, hgetall: 4, pttl: 4, get: 4 })
    expect((await lock.inspect()).queueLength).toBe(5_000)
    await rig.server.admin.del(QUEUE)
  })

  test('`inspect()` returns the first thousand waiters, and the length of the queue', async () => {
    await longQueue(1_234)
    const { queue, queueLength } = await rig.witness().getFairLock('it').inspect()
    expect(queueLength).toBe(1_234)
    expect(queue.map(({ owner }) => owner)).toEqual(
      Array.from({ length: 1_000 }, (_, i) => `c:${i}`),
    )
    await rig.server.admin.del(QUEUE)
  })
})
