import { setTimeout as pause } from 'node:timers/promises'
import {
  Holdfast,
  type HoldfastLock,
  type HoldfastOptions,
  type Lease,
  type MultiLease,
  type MultiLock,
} from '../../src/index.ts'
import { eventually, never } from '../support/eventually.ts'
import {
  Diary,
  faultRig,
  granted,
  outcome,
  SHA,
  type Source,
  within,
} from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import { type FaultProxy, type ProxyRequest, startProxy } from '../support/proxy.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { faults } from '../support/request-faults.ts'
import * as scripts from '../support/scripts.ts'
import { takes } from '../support/takes.ts'

/** Requests for several locks at once, and their answers, under faults. */
const rig = faultRig()

const NAMES = ['a', 'b', 'c']

const multi = (client: Holdfast, names: readonly string[] = NAMES): MultiLock =>
  client.getMultiLock(...names.map((name) => client.getLock(name)))

const held = async (names: readonly string[] = NAMES): Promise<string[]> => {
  const found = await Promise.all(names.map((name) => rig.exists(name)))
  return names.filter((_, i) => found[i])
}

const free = (timeoutMs = 5_000) =>
  eventually(async () => (await held()).length === 0, { message: 'all to be free', timeoutMs })

function all(lease: MultiLease | null): MultiLease {
  if (lease === null) throw new Error('The locks were not granted')
  return lease
}

/** Checks that each lock is held once, by the owner of its lease, and by no other owner. */
async function checkHeld(lease: MultiLease): Promise<void> {
  for (const { name, owner } of lease.leases) expect(await rig.hash(name)).toEqual({ [owner]: '1' })
  expect(lease.valid).toBe(true)
}

async function checkExclusion(): Promise<void> {
  const witness = rig.witness()
  for (const name of NAMES) expect(await witness.getLock(name).tryLock()).toBeNull()
  expect(await multi(witness).tryLock()).toBeNull()
}

describe.each<Source>(['options', 'instance'])('given Redis as %s', (source) => {
  test.each(faults)('all locks are acquired and released as usual when $fault', async (cell) => {
    const client = rig.client({}, source)
    const diary = new Diary(client)
    await multi(client, ['warm', 'up']).using(() => {})
    const trap = rig.proxy.onNextRequest(SHA.acquireAll, cell.action)
    const lease = await within(3_500, multi(client).lock())
    await trap.seen
    await checkHeld(lease)
    await checkExclusion()
    if (cell.releases === 'while held') {
      trap.release()
      await trap.done
      await checkHeld(lease)
      await checkExclusion()
    }
    expect(await lease.release()).toBe(true)
    const next = await within(2_500, multi(rig.witness()).lock())
    for (const [i, { token }] of next.leases.entries()) {
      expect(token).toBeGreaterThan(lease.leases[i]?.token ?? Infinity)
    }
    await next.release()
    if (cell.releases === 'when all is released') {
      trap.release()
      await trap.done
      // Before its deadline, the late request may acquire the locks. The client then releases them.
      await free(1_500)
      await never(async () => (await held()).length > 0, 60)
    }
    expect(diary.lost).toEqual([])
    await eventually(() => diary.released.length === diary.acquired.length)
    expect(diary.acquired).toHaveLength(5)
  })

  test.each(faults)('a multi-lock that waits acquires all locks when $fault', async (cell) => {
    const client = rig.client({}, source)
    const busy = granted(await rig.witness().getLock('b').tryLock())
    const locking = multi(client).lock()
    await rig.listening('b')
    const trap = rig.proxy.onNextRequest(SHA.acquireAll, cell.action)
    await busy.release()
    const lease = await within(5_000, locking)
    if (cell.releases === 'while held') trap.release()
    await checkHeld(lease)
    await checkExclusion()
    expect(await lease.release()).toBe(true)
    trap.release()
    await free(2_000)
  })
})

describe('a request that arrives late', () => {
  /** Acquires all locks. The first request is lost, and can be replayed. */
  async function lockWithLost(client: Holdfast) {
    const { seen } = rig.proxy.onNextRequest(SHA.acquireAll, 'cutBefore')
    const lease = await multi(client).lock()
    return { lease, request: await seen }
  }

  test('a late request acquires nothing while all locks are held, and their release works', async () => {
    const { lease, request } = await lockWithLost(rig.client({ commandTimeoutMs: 3_000 }))
    await rig.proxy.replay(request)
    await checkHeld(lease)
    expect(await lease.release()).toBe(true)
    await free()
  })

  test('a late request acquires nothing while one of the locks is held, and that hold is not lost', async () => {
    const { lease, request } = await lockWithLost(rig.client({ commandTimeoutMs: 3_000 }))
    const [a, b, c] = lease.leases
    expect(await a?.release()).toBe(true)
    await rig.proxy.replay(request)
    expect(await held()).toEqual(['b', 'c'])
    expect(await b?.release()).toBe(true)
    expect(await c?.release()).toBe(true)
    expect(await held()).toEqual([])
  })

  test('a late request that acquires the locks after their release is undone', async () => {
    const { lease, request } = await lockWithLost(rig.client({ commandTimeoutMs: 1_500 }))
    expect(await lease.release()).toBe(true)
    await rig.proxy.replay(request)
    await free()
  })

  test('a late request does not change the locks of the next holder', async () => {
    const { lease, request } = await lockWithLost(rig.client({ commandTimeoutMs: 1_500 }))
    await lease.release()
    const others = all(await multi(rig.witness()).tryLock())
    await rig.proxy.replay(request)
    await checkHeld(others)
    await others.release()
  })

  test('a late request past its deadline acquires nothing', async () => {
    const { lease, request } = await lockWithLost(rig.client())
    await lease.release()
    await pause(1_000) // past its deadline
    await rig.proxy.replay(request)
    expect(await held()).toEqual([])
  })
})

describe('a caller that gives up', () => {
  test('an abort while the answer is due leaves no lock', async () => {
    const client = rig.client({ commandTimeoutMs: 1_000 })
    const aborting = new AbortController()
    const trap = rig.proxy.onNextRequest(SHA.acquireAll, 'holdReply')
    const locking = outcome(multi(client).lock({ signal: aborting.signal }))
    await trap.seen
    await eventually(async () => (await held()).length === 3)
    aborting.abort(new Error('enough'))
    expect((await within(200, locking)).error).toBe(aborting.signal.reason)
    trap.release()
    await free()
  })

  test('an abort while a lost request is settled leaves no lock', async () => {
    const client = rig.client({ commandTimeoutMs: 600 })
    const aborting = new AbortController()
    const trap = rig.proxy.onNextRequest(SHA.acquireAll, 'cutBefore')
    const locking = outcome(multi(client).lock({ signal: aborting.signal }))
    const request = await trap.seen
    aborting.abort(new Error('enough'))
    expect((await within(200, locking)).error).toBe(aborting.signal.reason)
    await rig.proxy.replay(request)
    await free()
  })

  test.each(Array.from({ length: 12 }, (_, ticks) => [ticks]))(
    'an abort about %i microtasks after the answer leaves all locks held or none',
    async (ticks) => {
      const client = rig.client({ commandTimeoutMs: 5_000 })
      await client.getLock('other').inspect()
      const aborting = new AbortController()
      const trap = rig.proxy.onNextRequest('other', 'holdReply')
      const aborted = client
        .getLock('other')
        .inspect()
        .then(async () => {
          for (let i = 0; i < ticks * 4; i++) await null
          aborting.abort()
        })
      await trap.seen
      const locking = outcome(multi(client).lock({ signal: aborting.signal }))
      await eventually(async () => (await held()).length === 3)
      trap.release()
      await aborted
      const { value, error } = await within(1_000, locking)
      if (value === undefined) expect(error).toBe(aborting.signal.reason)
      else await checkHeld(value)
      await value?.release()
      await free()
    },
  )

  test('the end of the wait time leaves no lock, and is reported as an outage', async () => {
    // A silence of 250 ms counts as an outage here, even if the earlier answers were slow.
    const client = rig.client({ commandTimeoutMs: 500 })
    await client.getLock('warm').inspect()
    const hole = rig.proxy.dropReplies({ only: 'commands' })
    const trying = () => outcome(multi(client).tryLock(300))
    const { error } = await takes({ atLeast: 290, atMost: 1_000 }, trying)
    expect(error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
    expect(await held()).toEqual(NAMES)
    hole.heal()
    await free()
  })

  test('`close()` while the answer is due leaves no lock', async () => {
    const client = rig.client({ commandTimeoutMs: 1_000 })
    await client.getLock('warm').inspect()
    const trap = rig.proxy.onNextRequest(SHA.acquireAll, 'holdReply')
    const locking = outcome(multi(client).lock())
    await trap.seen
    const closing = client.close()
    expect((await within(200, locking)).error).toMatchObject({ code: 'HOLDFAST_CLOSED' })
    trap.release()
    await closing
    expect(await held()).toEqual([])
  })
})

/** A server behind a proxy, and a client behind this proxy. */
interface Side {
  client: Holdfast
  witness: Holdfast
  proxy: FaultProxy
  server: RedisServer
}

/** Returns two servers, in the order in which multi-locks acquire their locks. */
async function sides(options: Omit<HoldfastOptions, 'redis'> = {}): Promise<[Side, Side]> {
  const both = [rig.server, await startRedis()].map(async (server): Promise<[string, Side]> => {
    const proxy = server === rig.server ? rig.proxy : await startProxy(server.port)
    const quick = { commandTimeoutMs: 3_000, outageMs: 4_000, ...options }
    const client = new Holdfast({ redis: proxy.url, ...quick })
    const witness = new Holdfast({ redis: server.url })
    for (const one of [client, witness]) atEnd(() => one.close(), { beforeCheck: true })
    atEnd(() => proxy.heal(), { beforeCheck: true })
    for (const { source } of Object.values(scripts)) await server.admin.script('LOAD', source)
    const runId = /run_id:(\w+)/.exec(await server.admin.info('server'))?.[1] ?? ''
    await client.getLock('warm').using(() => {})
    return [runId, { client, witness, proxy, server }]
  })
  const sorted = (await Promise.all(both)).sort(([a], [b]) => (a < b ? -1 : 1))
  return sorted.map(([, side]) => side) as [Side, Side]
}

const isFree = async ({ server }: Side) => (await server.admin.exists('a', 'b', 'c')) === 0

test('a client that is closing acquires no further locks of a multi-lock', async () => {
  const [first, second] = await sides({ commandTimeoutMs: 1_000 })
  const busy = await second.witness.getLock('b').lock()
  const lock = first.client.getMultiLock(first.client.getLock('a'), second.client.getLock('b'))
  // The client holds the first lock for a while, and releases it because it cannot acquire the second lock.
  const trap = first.proxy.onNextRequest(SHA.release, 'holdReply')
  const other = await first.client.getLock('c').lock()
  const locking = outcome(lock.lock())
  await trap.seen
  const slow = first.proxy.onNextRequest(SHA.release, 'holdReply')
  const closing = first.client.close()
  trap.release()
  await slow.seen
  await busy.release()
  expect((await within(500, locking)).error).toMatchObject({ code: 'HOLDFAST_CLOSED' })
  expect(await first.server.admin.exists('a')).toBe(0)
  slow.release()
  await closing
  expect(other.signal.aborted).toBe(true)
  expect(await isFree(first)).toBe(true)
  await eventually(() => isFree(second))
})

describe('a multi-lock that waits for fair locks', () => {
  const isQueueing = (args: readonly string[]) =>
    args.includes('holdfast_queue:{c}') && !args.includes('try')
  const queued = async () => (await rig.queue('c')).length

  // The client releases the first of two fair locks while it waits for the second.
  test.each(
    (['acquireFair', 'releaseFair'] as const).flatMap((script) =>
      faults.map((cell) => ({ script, ...cell })),
    ),
  )(
    'a waiting multi-lock loses no lock and leaves nothing behind when $fault: $script',
    async ({ script, ...cell }) => {
      const client = rig.client({ commandTimeoutMs: 300 })
      const busy = granted(await rig.witness().getFairLock('c').tryLock())
      const lock = client.getMultiLock(client.getFairLock('b'), client.getFairLock('c'))
      await client.getFairLock('warm').using(() => {})
      // The request to queue for the second lock, or the release of the first lock.
      const isIt = ({ args }: ProxyRequest) =>
        args[0] === SHA[script] && (script === 'releaseFair' || isQueueing(args))
      const trap = rig.proxy.onNextRequest(isIt, cell.action)
      const locking = lock.lock()
      await trap.seen
      await eventually(async () => (await queued()) === 1 && !(await rig.exists('b')))
      if (cell.releases === 'while held') trap.release()
      await busy.release()
      const lease = await within(6_000, locking)
      await checkHeld(lease)
      expect(await queued()).toBe(0)
      expect(await lease.release()).toBe(true)
      trap.release()
      await eventually(async () => (await queued()) === 0 && (await held()).length === 0)
    },
  )
})

describe('one wait time for all locks', () => {
  test('a wait for a server that never identified itself ends in time, and an abort ends it at once', async () => {
    const other = await startRedis()
    const one = rig.client()
    const far = new Holdfast({ redis: other.url, commandTimeoutMs: 3_000, outageMs: 4_000 })
    atEnd(() => far.close(), { beforeCheck: true })
    other.pause()
    const lock = one.getMultiLock(far.getLock('b'), one.getLock('a'))
    // The wait is longer than an answer takes on a loaded machine. A shorter wait would show nothing about the server.
    let error: unknown
    // If this process stands still for that long, the wait ends before the first request.
    for (let i = 0; i < 6 && error === undefined; i++) {
      ;({ error } = await within(2_000, outcome(lock.tryLock(700))))
    }
    expect(error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
    const aborting = new AbortController()
    let ended: unknown
    const waiting = lock.lock({ signal: aborting.signal })
    waiting.catch((error) => {
      ended = error
    })
    await pause(200)
    const reason = new Error('enough')
    aborting.abort(reason)
    await new Promise(setImmediate)
    expect(ended).toBe(reason)
    other.resume()
    await free()
  })

  test('an abort does not wait for a release that is under way', async () => {
    const [first, second] = await sides()
    const busy = await second.witness.getLock('b').lock()
    const lock = first.client.getMultiLock(first.client.getLock('a'), second.client.getLock('b'))
    const aborting = new AbortController()
    const trap = first.proxy.onNextRequest(SHA.release, 'holdReply')
    const locking = outcome(lock.lock({ signal: aborting.signal }))
    await trap.seen
    aborting.abort(new Error('enough'))
    expect((await within(300, locking)).error).toBe(aborting.signal.reason)
    trap.release()
    await busy.release()
    await eventually(async () => (await isFree(first)) && (await isFree(second)))
  })

  test('the attempt ends at its wait time if the renewal of a fixed lease gets no answer', async () => {
    const [first, second] = await sides()
    const lock = first.client.getMultiLock(first.client.getLock('a'), second.client.getLock('b'))
    // With this delay, the first lock loses so much of its lease that the client renews it.
    const slow = second.proxy.delay(300)
    const trap = first.proxy.onNextRequest(SHA.renew, 'holdReply')
    const { error } = await within(3_300, outcome(lock.tryLock(2_400, 3_000)))
    await trap.seen
    expect(error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE', lockName: 'a' })
    slow.heal()
    trap.release()
    await eventually(async () => (await isFree(first)) && (await isFree(second)))
  })

  test('leases that are too short for all locks end the attempt with an error', async () => {
    const [first, second] = await sides({ outageMs: 800 })
    const slow = second.proxy.delay(60)
    const lock = first.client.getMultiLock(first.client.getLock('a'), second.client.getLock('b'))
    const attempts = [
      () => lock.tryLock({ leaseMs: 30 }),
      () => lock.lock(30),
      // Long enough to acquire one lock, but too short for both locks.
      () => lock.tryLock({ leaseMs: 135 }),
    ]
    for (const attempt of attempts) {
      expect((await within(10_000, outcome(attempt()))).error).toMatchObject({
        code: expect.stringMatching(/LEASE_LOST|UNAVAILABLE/),
      })
    }
    slow.heal()
    await eventually(async () => (await isFree(first)) && (await isFree(second)))
  })
})

describe('a lock that the owner already holds', () => {
  test.each(faults)(
    'a held lock is re-entered together with the other locks when $fault',
    async (cell) => {
      const client = rig.client()
      const owner = { owner: client.owner() }
      const [a, b, c] = NAMES.map((name) => client.getLock(name, owner)) as [
        HoldfastLock,
        HoldfastLock,
        HoldfastLock,
      ]
      const lock = client.getMultiLock(a, b, c)
      const first = granted(await b.tryLock())
      const trap = rig.proxy.onNextRequest(SHA.acquire, cell.action)
      const lease = await within(3_500, lock.lock())
      if (cell.releases === 'while held') trap.release()
      await trap.seen
      expect(await rig.hash('b')).toEqual({ [first.owner]: '2' })
      expect((await held()).length).toBe(3)
      expect(await lease.release()).toBe(true)
      expect(await rig.hash('b')).toEqual({ [first.owner]: '1' })
      expect(await held()).toEqual(['b'])
      expect(await first.release()).toBe(true)
      trap.release()
      await free(2_000)
    },
  )

  test('a held lock keeps its hold count if the other locks cannot be acquired', async () => {
    const client = rig.client({ commandTimeoutMs: 150, outageMs: 1_000 })
    const owner = { owner: client.owner() }
    const [a, b, c] = NAMES.map((name) => client.getLock(name, owner)) as [
      HoldfastLock,
      HoldfastLock,
      HoldfastLock,
    ]
    const first = granted(await b.tryLock())
    // All requests for the other locks lose their answers. Other requests are not affected.
    const isIt = ({ args }: ProxyRequest) => args[0] === SHA.acquireAll
    const traps = Array.from({ length: 60 }, () => rig.proxy.onNextRequest(isIt, 'cutAfter'))
    const { error } = await outcome(client.getMultiLock(a, b, c).lock())
    for (const trap of traps) trap.cancel()
    expect(error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
    await eventually(async () => (await held()).join() === 'b')
    expect(await rig.hash('b')).toEqual({ [first.owner]: '1' })
    expect(await first.release()).toBe(true)
    await free()
  })

  test('four acquisitions of one owner at the same time re-enter all locks', async () => {
    const client = rig.client()
    const owner = { owner: client.owner() }
    const lock = client.getMultiLock(...NAMES.map((name) => client.getLock(name, owner)))
    const leases = await within(5_000, Promise.all([1, 2, 3, 4].map(() => lock.lock())))
    for (const name of NAMES) expect(Object.values(await rig.hash(name))).toEqual(['4'])
    expect(await Promise.all(leases.map((lease) => lease.release()))).toEqual(Array(4).fill(true))
    expect(await held()).toEqual([])
  })
})

test('a process that sleeps for longer than its lease acquires the lost lock again', async () => {
  const [first, second] = await sides({ leaseMs: 400 })
  const busy = await second.witness.getLock('b').lock()
  const lock = first.client.getMultiLock(first.client.getLock('a'), second.client.getLock('b'))
  const locking = lock.lock()
  await eventually(async () => (await first.server.admin.exists('a')) === 1)
  const released = busy.release()
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700)
  await released
  const lease = await within(5_000, locking)
  expect(lease.valid).toBe(true)
  for (const [{ server }, n] of [
    [first, 0],
    [second, 1],
  ] as const) {
    const { name, owner } = lease.leases[n] as Lease
    expect(await server.admin.hgetall(name)).toEqual({ [owner]: '1' })
  }
  expect(await lease.release()).toBe(true)
})
