import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../src/index.ts'
import { startChild } from '../support/children.ts'
import { eventually } from '../support/eventually.ts'
import { Diary, faultRig, granted, outcome, SHA, within } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import type { ProxyRequest } from '../support/proxy.ts'
import { takes } from '../support/takes.ts'
import { warm } from '../support/warm.ts'

const rig = faultRig()

const UNAVAILABLE = { code: 'HOLDFAST_UNAVAILABLE' }

interface Outage {
  outage: string
  strike: () => Promise<() => unknown> | (() => unknown)
}

const outages: Outage[] = [
  {
    outage: 'a closed port',
    strike: () => {
      rig.proxy.refuse()
      rig.proxy.cut()
      return () => rig.proxy.heal()
    },
  },
  {
    outage: 'a black hole',
    strike: () => rig.proxy.blackHole({ onHeal: 'drop' }).heal,
  },
  {
    outage: 'replies that never come',
    strike: () => rig.proxy.dropReplies().heal,
  },
  {
    outage: 'a server that hangs',
    strike: () => {
      rig.server.pause()
      return () => rig.server.resume()
    },
  },
]

/** Returns a client that is connected before the outage, or a new client. */
async function clientIn(state: string): Promise<Holdfast> {
  const client = rig.client({ commandTimeoutMs: 200, outageMs: 600 })
  if (state === 'connected') await warm(client)
  return client
}

/** Blocks the event loop. */
function blockFor(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** Checks that a lock that may have been acquired is released soon after the outage. */
async function gone(name: string): Promise<void> {
  await eventually(async () => !(await rig.exists(name)), { timeoutMs: 3_000, message: name })
}

describe.each(outages)('in an outage ($outage)', ({ strike }) => {
  test.each([
    ['connected', 120],
    ['connected', 1_500],
    ['new', 350],
  ])('a client that is %s ends `tryLock(%i)` in time, with an error', async (state, waitMs) => {
    const client = await clientIn(state)
    const heal = await strike()
    // The call ends at the earlier of `waitMs` and `outageMs`.
    const atMost = Math.min(waitMs, 600 + 200) + 200
    const { error } = await takes({ atMost }, () => outcome(client.getLock('out').tryLock(waitMs)))
    expect(error).toMatchObject({ ...UNAVAILABLE, lockName: 'out' })
    await heal()
    await gone('out')
  })

  test('`tryLock()`, `lock()`, `using()` and `isLocked()` fail after `outageMs`', async () => {
    const client = await clientIn('connected')
    const heal = await strike()
    const calls: Promise<unknown>[] = [
      client.getLock('a').tryLock(),
      client.getLock('b').lock(),
      client.getLock('c').using(() => 'never'),
      client.getLock('d').isLocked(),
    ]
    const ends = calls.map((call) => takes({ atLeast: 300, atMost: 600 + 400 }, outcome(call)))
    for (const { error } of await Promise.all(ends)) expect(error).toMatchObject(UNAVAILABLE)
    await heal()
    // The client may still need longer than one `outageMs` to connect again.
    const lease = await eventually(() => client.getLock('a').tryLock(2_000))
    await granted(lease).release()
  })

  test('a caller that waits behind another caller of its client also gets the error', async () => {
    const client = await clientIn('connected')
    const lock = client.getLock('out')
    const heal = await strike()
    const ended: number[] = []
    const trying = [500, 250].map(async (waitMs) => {
      const { error } = await outcome(lock.tryLock(waitMs))
      ended.push(waitMs)
      expect(error).toMatchObject(UNAVAILABLE)
    })
    await Promise.all(trying)
    // The second caller does not wait for the end of the first.
    expect(ended).toEqual([250, 500])
    await heal()
    await gone('out')
  })

  test('a wait that began before the outage ends in time', async () => {
    const client = await clientIn('connected')
    const held = granted(await rig.witness().getLock('out').tryLock())
    const waiting = within(1_500, outcome(client.getLock('out').tryLock(1_200)))
    await rig.listening('out')
    const heal = await strike()
    const { value, error } = await waiting
    // The result depends on whether the waiter sent a request during the outage.
    if (error === undefined) expect(value).toBeNull()
    else expect(error).toMatchObject(UNAVAILABLE)
    await heal()
    await held.release()
  })

  test('an abort ends a wait at once', async () => {
    const client = await clientIn('connected')
    const heal = await strike()
    const aborting = new AbortController()
    let ended: unknown
    const waiting = client.getLock('out').lock({ signal: aborting.signal })
    waiting.catch((error) => {
      ended = error
    })
    await pause(100)
    aborting.abort()
    // The wait ends in the same turn of the event loop.
    await new Promise(process.nextTick)
    expect(ended).toBe(aborting.signal.reason)
    await heal()
    await gone('out')
  })

  test('`unlock()` rejects because it was not confirmed, and the lock is free soon after the outage', async () => {
    const client = await clientIn('connected')
    const diary = new Diary(client)
    const lock = client.getLock('out')
    const lease = granted(await lock.tryLock({ leaseMs: 30_000 }))
    const heal = await strike()
    const { error } = await takes({ atMost: 600 + 400 }, outcome(lock.unlock()))
    expect(error).toMatchObject({ ...UNAVAILABLE, lockName: 'out' })
    expect(lease.valid).toBe(false)
    await heal()
    await gone('out')
    expect(diary.lost).toEqual([])
    const again = granted(await eventually(() => lock.tryLock(1_000)))
    expect(again.token).toBeGreaterThan(lease.token)
    expect(await again.release()).toBe(true)
  })

  test('a nested release that was not confirmed leaves no count behind', async () => {
    const client = await clientIn('connected')
    const lock = client.getLock('out', { owner: client.owner() })
    const first = granted(await lock.tryLock())
    const second = granted(await lock.tryLock())
    const heal = await strike()
    expect((await outcome(second.release())).error).toMatchObject(UNAVAILABLE)
    await heal()
    const third = granted(await lock.tryLock(2_000))
    expect(await rig.hash('out')).toEqual({ [first.owner]: '2' })
    expect(await third.release()).toBe(true)
    expect(await first.release()).toBe(true)
    expect(await rig.exists('out')).toBe(false)
  })

  test('`close()` ends in limited time, even with holds and waits', async () => {
    const client = await clientIn('connected')
    const lock = client.getLock('held')
    const lease = granted(await lock.tryLock({ leaseMs: 1_500 }))
    const waiting = outcome(lock.lock())
    const asking = outcome(client.getLock('other').lock())
    const heal = await strike()
    await takes({ atMost: 2 * 200 + 300 }, client.close())
    expect((await waiting).error).toMatchObject({ code: 'HOLDFAST_CLOSED' })
    expect((await asking).error).toMatchObject({ code: 'HOLDFAST_CLOSED' })
    expect(lease.signal.aborted).toBe(true)
    expect((await outcome(lock.lock())).error).toMatchObject({ code: 'HOLDFAST_CLOSED' })
    await heal()
    // If no request reached the server, the lease ends by itself.
    await eventually(async () => !(await rig.exists('held')), { timeoutMs: 2_500 })
  })
})

test.each(outages.slice(1))(
  'in an outage ($outage) no error says that the server closed the connection',
  async ({ strike }) => {
    const client = await clientIn('connected')
    const heal = await strike()
    const heard = new Set<string>()
    for (let i = 0; i < 15; i += 1) {
      heard.add(String((await outcome(client.getLock('out').tryLock(100))).error))
    }
    await heal()
    expect([...heard].join()).toMatch(/no answer within \d+ ms/)
    expect([...heard].join()).not.toMatch(/closed|retries/)
    await gone('out')
  },
)

describe('contention is no outage', () => {
  test.each([undefined, 200, 500])('`tryLock(%p)` returns null in time', async (waitMs) => {
    const held = granted(await rig.witness().getLock('taken').tryLock())
    const client = rig.client()
    const lock = client.getLock('taken')
    await warm(client)
    const limits = { atLeast: (waitMs ?? 0) - 5, atMost: (waitMs ?? 0) + 1_000 }
    const tried = () => (waitMs === undefined ? lock.tryLock() : lock.tryLock(waitMs))
    expect(await takes(limits, tried)).toBeNull()
    await held.release()
  })

  test('`tryLock()` returns null even when Redis is slow, but answers', async () => {
    const held = granted(await rig.witness().getLock('taken').tryLock())
    const client = rig.client({ commandTimeoutMs: 3_000 })
    rig.proxy.delay(40)
    expect(await client.getLock('taken').tryLock(1_500)).toBeNull()
    await held.release()
  })

  // The timer that checks calls may be set for an earlier call. If the event loop is blocked then, this timer finds the
  // call expired before the timer of the wait runs.
  test('`tryLock()` returns null even when the time is up while an answer is on its way, in a busy process', async () => {
    const held = granted(await rig.witness().getLock('taken').tryLock())
    const clients = Array.from({ length: 10 }, () =>
      rig.client({ commandTimeoutMs: 20_000, outageMs: 40_000 }),
    )
    const earlier = clients.map((client, i) => client.getLock(`own-${i}`).tryLock(1_800 + 20 * i))
    for (const own of earlier) await granted(await own).release()
    const asks = ({ args }: ProxyRequest) => args[0] === SHA.acquire && args.includes('taken')
    // A waiter that knows the holder and listens for the release checks the lock once more.
    const asksAgain = (request: ProxyRequest) =>
      asks(request) && rig.proxy.count(asks, request.connection) > 1
    const traps = clients.map(() => rig.proxy.onNextRequest(asksAgain, 'holdReply'))
    const waits = clients.map((client, i) => client.getLock('taken').tryLock(2_000 + 20 * i))
    await Promise.race([Promise.all(traps.map(({ seen }) => seen)), Promise.all(waits)])
    expect(rig.proxy.count(asks)).toBeGreaterThan(clients.length)
    let busy = setImmediate(function block() {
      blockFor(200)
      busy = setImmediate(block)
    })
    atEnd(() => clearImmediate(busy), { beforeCheck: true })
    expect(await Promise.all(waits)).toEqual(waits.map(() => null))
    clearImmediate(busy)
    await held.release()
  })
})

test('`close()` right after an outage releases a lock that may have been acquired', async () => {
  const client = rig.client({ commandTimeoutMs: 500, outageMs: 600 })
  await warm(client)
  const trap = rig.proxy.onNextRequest(SHA.acquire, 'mute')
  const trying = outcome(client.getLock('out').tryLock(2_000))
  await trap.done
  const hole = rig.proxy.blackHole({ onHeal: 'drop' })
  expect((await trying).error).toMatchObject(UNAVAILABLE)
  // The release that is in flight is lost with the connection.
  await eventually(() => rig.proxy.count(SHA.release) >= 2)
  expect(await rig.exists('out')).toBe(true)
  hole.heal()
  await client.close()
  expect(await rig.exists('out')).toBe(false)
})

test('a call acquires the lock when its wait begins in an outage and outlasts it', async () => {
  const client = rig.client({ commandTimeoutMs: 200, outageMs: 10_000 })
  rig.proxy.refuse()
  const pending = client.getLock('out').tryLock(8_000)
  await pause(300)
  await rig.proxy.heal()
  await granted(await within(3_000, pending)).release()
})

test.each([{}, { connectionName: 'orders' }, { username: 'default', password: 'any' }])(
  'a client connects again after its new connection breaks before the first reply: %p',
  async (redis) => {
    const client = new Holdfast({
      redis: { host: rig.proxy.host, port: rig.proxy.port, ...redis },
      commandTimeoutMs: 200,
      outageMs: 400,
    })
    atEnd(() => client.close(), { beforeCheck: true })
    await warm(client)
    // The client connects again but receives no data. The connection is cut several times before its first reply.
    const hole = rig.proxy.blackHole({ onHeal: 'drop' })
    rig.proxy.cut()
    for (let i = 0; i < 3; i++) {
      await eventually(() => rig.proxy.openConnections.length > 0)
      await pause(20)
      rig.proxy.cut()
    }
    hole.heal()
    await eventually(async () => granted(await client.getLock('out').tryLock()).release())
  },
)

test('requests of callers that gave up in an outage acquire nothing after the outage', async () => {
  const client = rig.client({ commandTimeoutMs: 200, outageMs: 300 })
  await warm(client)
  rig.proxy.refuse()
  rig.proxy.cut()
  await Promise.all(
    Array.from({ length: 20 }, (_, i) => outcome(client.getLock(`q ${i}`).tryLock())),
  )
  await rig.proxy.heal()
  await eventually(async () => granted(await client.getLock('warm').tryLock()).release())
  expect(await rig.server.admin.keys('q *')).toEqual([])
})

test('a program receives the error and can end while Redis is away', async () => {
  const child = startChild('test/faults/fixtures/outage.mjs', { args: [String(rig.proxy.port)] })
  rig.proxy.refuse()
  expect(await child.next()).toEqual({ code: 'HOLDFAST_UNAVAILABLE' })
  expect(await within(20_000, child.exited)).toEqual({ code: 0, signal: null })
})
