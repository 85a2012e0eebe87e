import { setTimeout as pause } from 'node:timers/promises'
import type { Holdfast, Lease } from '../../src/index.ts'
import { startChild } from '../support/children.ts'
import { eventually, never } from '../support/eventually.ts'
import { Diary, faultRig, granted, outcome, SHA, within } from '../support/fault-rig.ts'
import * as scripts from '../support/scripts.ts'

const rig = faultRig()

/**
 * A waiter that receives a message acquires the lock before this time. Without a message, it checks the lock after 5 to
 * 6 s.
 */
const BY_MESSAGE_MS = 3_000

/** Another client holds the lock. The client behind the proxy waits for the lock and is subscribed. */
async function contend(name: string, { leaseMs = 0, commandTimeoutMs = 200 } = {}) {
  const holder = rig.witness()
  const held = granted(await holder.getLock(name).tryLock(leaseMs > 0 ? { leaseMs } : {}))
  const client = rig.client({ commandTimeoutMs })
  const asked = rig.proxy.count(SHA.acquire)
  const pending = client.getLock(name).lock()
  await rig.listening(name)
  // The waiter checks the lock at first, and again after the confirmation of the subscription. Then it sleeps.
  await eventually(() => rig.proxy.count(SHA.acquire) >= asked + 2)
  return { held, client, pending }
}

async function checkGranted(pending: Promise<Lease>, withinMs: number): Promise<void> {
  const lease = await within(withinMs, pending)
  expect(lease.valid).toBe(true)
  expect(await lease.release()).toBe(true)
}

const nobodyListens = (name: string) => rig.listening(name, 0)

describe('a waiter whose subscription is cut', () => {
  test('subscribes again, and a message wakes it', async () => {
    const { held, pending } = await contend('cut')
    rig.proxy.cut('subscriber')
    await nobodyListens('cut')
    await rig.listening('cut')
    await held.release()
    await checkGranted(pending, BY_MESSAGE_MS)
  })

  test('finds a release that happened without its subscription', async () => {
    const { held, pending } = await contend('gap')
    rig.proxy.cut('subscriber')
    await held.release() // while no client listens, or almost none
    await checkGranted(pending, 2_000)
  })

  test('checks repeatedly while it cannot subscribe', async () => {
    const { held, pending } = await contend('poll', { commandTimeoutMs: 5_000 })
    const known = rig.proxy.connections.length
    const mute = rig.proxy.blackHole({ only: ({ index }) => index >= known })
    rig.proxy.cut('subscriber')
    await nobodyListens('poll')
    const looks = rig.proxy.count(SHA.acquire)
    await eventually(() => rig.proxy.count(SHA.acquire) >= looks + 3, { timeoutMs: 2_000 })
    await held.release()
    await checkGranted(pending, BY_MESSAGE_MS)
    mute.heal()
  })
})

test('a waiter that is subscribed does not check repeatedly', async () => {
  const { held, pending } = await contend('quiet', { commandTimeoutMs: 20_000 })
  const looks = rig.proxy.count(SHA.acquire)
  await pause(600) // more than twice the longest pause between checks without a subscription
  expect(rig.proxy.count(SHA.acquire)).toBe(looks)
  await held.release()
  await checkGranted(pending, BY_MESSAGE_MS)
})

test('a waiter whose subscription is a black hole gets the lock within ten seconds', async () => {
  const { held, pending } = await contend('hole')
  rig.proxy.blackHole({ only: 'subscriber', onHeal: 'drop' })
  await held.release()
  await checkGranted(pending, 10_000)
})

test('a waiter that misses a message checks at the end of the holder’s lease', async () => {
  const { held, pending } = await contend('missed', { leaseMs: 900 })
  rig.proxy.blackHole({ only: 'subscriber' })
  await held.release()
  await checkGranted(pending, 2_000)
})

describe('a waiter whose connection for commands', () => {
  test.each<[string, () => () => unknown]>([
    ['is cut', () => () => rig.proxy.cut('commands')],
    [
      'is in a black hole',
      () => {
        const hole = rig.proxy.blackHole({ only: 'commands', onHeal: 'drop' })
        return () => hole.heal()
      },
    ],
    [
      'loses replies',
      () => {
        const deaf = rig.proxy.dropReplies({ only: 'commands' })
        return () => deaf.heal()
      },
    ],
  ])('%s continues to wait, and gets the lock', async (_, strike) => {
    const { held, client, pending } = await contend('commands')
    const diary = new Diary(client)
    const heal = strike()
    await held.release()
    await pause(300) // the requests of the waiter have no result meanwhile
    heal()
    await checkGranted(pending, 3_000)
    expect(diary.acquired).toHaveLength(1)
  })
})

test.each([
  ['by Redis', 9_000],
  ['inside the client', 10_000],
])('a waiter whose request was lost keeps a lock that is handed off %s', async (how, leaseMs) => {
  const { held, client, pending } = await contend('doubt')
  // The next check of the waiter is lost. The server answers the later checks, but the lost check may still arrive.
  const looks = rig.proxy.count(SHA.acquire)
  rig.proxy.onNextRequest(SHA.acquire, 'cutBefore')
  rig.proxy.cut('subscriber')
  await eventually(() => rig.proxy.count(SHA.acquire) >= looks + 2)
  await rig.listening('doubt')
  // The number of checks depends on which connection is ready first.
  for (let seen = 0; seen !== rig.proxy.count(SHA.acquire); await pause(300)) {
    seen = rig.proxy.count(SHA.acquire)
  }
  // Another caller of the same client is quicker, because the waiter gets no message about the release.
  rig.proxy.blackHole({ only: 'subscriber' })
  await held.release()
  const quick = granted(await client.getLock('doubt').tryLock({ leaseMs }))
  const handOvers = rig.proxy.count(SHA.handOver)
  expect(await quick.release()).toBe(true)
  const lease = await within(BY_MESSAGE_MS, pending)
  // On a slow machine Redis hands the lock off instead of the client, and the client may repeat the request.
  if (how === 'by Redis') expect(rig.proxy.count(SHA.handOver)).toBeGreaterThan(handOvers)
  await never(async () => !(await rig.exists('doubt')), 400, { message: 'the end of its lock' })
  expect(await rig.hash('doubt')).toEqual({ [lease.owner]: '1' })
  expect(await lease.release()).toBe(true)
})

describe('a server that restarts while 50 callers wait', () => {
  test.each(['one client', 'many clients'])(
    'grants the lock to all waiters, one at a time: %s',
    async (how) => {
      // A busy machine needs seconds to start a server.
      const patient = { outageMs: 20_000 }
      const few = Array.from({ length: 5 }, () => rig.client(patient))
      const clients = how === 'one client' ? [few[0] as Holdfast] : few
      const holder = rig.client(patient)
      const held = granted(await holder.getLock('restart').tryLock())
      let inside = 0
      let most = 0
      const tokens: number[] = []
      const all = Promise.all(
        Array.from({ length: 50 }, async (_, i) => {
          const client = clients[i % clients.length] as Holdfast
          const lease = await client.getLock('restart').lock()
          inside += 1
          most = Math.max(most, inside)
          tokens.push(lease.token)
          await pause(1)
          inside -= 1
          await lease.release()
        }),
      )
      await rig.listening('restart', clients.length)
      await rig.server.restart()
      await within(8_000, all)
      expect(most).toBe(1)
      expect(tokens).toEqual([...tokens].sort((a, b) => a - b))
      expect(new Set(tokens).size).toBe(50)
      expect(Math.min(...tokens)).toBeGreaterThan(held.token)
      expect(await held.release()).toBe(false)
    },
  )
})

test('a waiter gets the lock of a killed holder by the end of its lease', async () => {
  const child = startChild('test/lock/fixtures/holder.mjs', { args: [rig.server.url, '2000'] })
  await child.next((message) => message === 'held')
  const client = rig.client()
  const waiting = outcome(client.getLock('killed').tryLock(10_000))
  await rig.listening('killed')
  // While the process lives, it renews its lease.
  await child.next((message) => message === 'renewed')
  child.kill('SIGKILL')
  const { value } = await within(2_000 + 1_000, waiting)
  const lease = granted(value ?? null)
  await lease.release()
})

test('a waiter that is killed blocks no other client', async () => {
  const held = granted(await rig.witness().getLock('killed').tryLock())
  const child = startChild('test/lock/fixtures/holder.mjs', { args: [rig.server.url, '1000'] })
  await rig.listening('killed')
  child.kill('SIGKILL')
  await child.exited
  await nobodyListens('killed')
  await held.release()
  await granted(await rig.client().getLock('killed').tryLock(1_000)).release()
})

describe('a server that forgets its scripts', () => {
  test('gets the scripts again, even during contention', async () => {
    const clients = [rig.client(), rig.client(), rig.client()]
    let inside = 0
    let most = 0
    let isOver = false
    const forgetting = (async () => {
      while (!isOver) {
        await rig.server.admin.script('FLUSH')
        await pause(5)
      }
    })()
    const workers = clients.flatMap((client) =>
      [1, 2].map(async () => {
        for (let i = 0; i < 20; i++) {
          const lease = await client.getLock('forgetful').lock()
          inside += 1
          most = Math.max(most, inside)
          if (i % 5 === 0) await lease.extend(9_000)
          inside -= 1
          expect(await lease.release()).toBe(true)
        }
      }),
    )
    await within(15_000, Promise.all(workers))
    isOver = true
    await forgetting
    expect(most).toBe(1)
  })

  test.each(['cutBefore', 'cutAfter', 'mute'] as const)(
    'runs a script once even when the request with its source has the fault %s',
    async (action) => {
      const client = rig.client()
      const lock = client.getLock('forgetful')
      await granted(await lock.tryLock()).release()
      await rig.server.admin.script('FLUSH')
      rig.proxy.onNextRequest(({ args }) => args[0] === scripts.acquire.source, action)
      const lease = granted(await within(3_000, lock.tryLock()))
      expect(await rig.hash('forgetful')).toEqual({ [lease.owner]: '1' })
      expect(await lease.release()).toBe(true)
    },
  )
})

test('a wait that ends by its time leaves no subscription, even when the connection breaks', async () => {
  const { held, client, pending } = await contend('first')
  const second = client.getLock('second')
  const other = granted(await rig.witness().getLock('second').tryLock())
  for (let i = 0; i < 20; i++) {
    const waiting = second.tryLock(20)
    if (i % 4 === 0) rig.proxy.cut('subscriber')
    // A reconnect can take longer than the wait. The result is then an outage.
    const { value } = await outcome(waiting)
    expect(value ?? null).toBeNull()
  }
  await nobodyListens('second')
  await rig.listening('first')
  await other.release()
  await held.release()
  await checkGranted(pending, 2_000)
})
