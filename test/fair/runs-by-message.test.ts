import { setTimeout as pause } from 'node:timers/promises'
import type { Holdfast, Lease } from '../../src/index.ts'
import { deferred } from '../support/deferred.ts'
import { eventually } from '../support/eventually.ts'
import { Diary, faultRig, outcome, SHA, within } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import type { Action } from '../support/proxy.ts'
import { requests } from './asked.ts'
import { Queue, SOON_MS } from './turns.ts'

/** Another client releases the lock, and a message grants it to the first of consecutive waiters of one client. */
const rig = faultRig()

const CLAIM_MS = 1_500
/** The extra time of a busy machine, in milliseconds. */
const NOISE_MS = 1_000
const NAMES = ['a1', 'a2', 'a3', 'a4']

/** A client whose runs end neither by the time limit of a request nor by the age of its lease, on a slow machine. */
const patient = () => rig.client({ commandTimeoutMs: 10_000, leaseMs: 60_000 })

const holding = (): Promise<Lease> => rig.witness().getFairLock('it').lock()

/** Waits until Redis knows that the client listens, and that it can read messages about runs. */
async function known(client: Holdfast): Promise<void> {
  await rig.hears(client)
  await eventually(async () => {
    const mark = await rig.server.admin.hget('holdfast_waiting:{it}', client.id)
    return /^\d+ 2 /.test(mark ?? '')
  })
}

/** Records the messages to the inbox of a client from now on. */
async function grantsTo(client: Holdfast): Promise<readonly string[]> {
  const listener = rig.server.admin.duplicate()
  atEnd(() => listener.disconnect(), { beforeCheck: true })
  const messages: string[] = []
  listener.on('message', (_, message) => messages.push(message))
  await listener.subscribe(`holdfast_inbox:${client.id}`)
  return messages
}

test('consecutive waiters of a client need one message, one confirmation and one release', async () => {
  const client = patient()
  const held = await holding()
  const queue = new Queue(rig)
  await queue.joinAll(NAMES, () => client)
  await known(client)
  await held.release()
  await queue.served()
  expect(queue.order).toEqual(NAMES)
  expect(queue.turns[0]?.token).toBeGreaterThan(held.token)
  expect(requests(rig)).toEqual({ asked: 4, released: 1, confirmed: 1 })
  expect(await rig.queue('it')).toEqual([])
  expect(await rig.exists('it')).toBe(false)
})

test('a run ends before the waiter of another client, and the waiters behind it get a new message', async () => {
  const client = patient()
  const other = rig.witness()
  const held = await holding()
  const queue = new Queue(rig)
  const names = ['a1', 'a2', 'b1', 'a3', 'a4', 'b2']
  await queue.joinAll(names, (who) => (who[0] === 'a' ? client : other))
  await known(client)
  await held.release()
  await queue.served()
  expect(queue.order).toEqual(names)
  // One release ends each run.
  expect(requests(rig)).toMatchObject({ released: 2, confirmed: 2 })
  expect(await rig.queue('it')).toEqual([])
})

test('a waiter that comes during a run is behind a waiter of another client that came before', async () => {
  const client = patient()
  const held = await holding()
  const queue = new Queue(rig)
  const isInside = deferred<void>()
  const goOn = deferred<void>()
  await queue.join('a1', client)
  await queue.join('a2', client, async () => {
    isInside.resolve()
    await goOn.promise
  })
  await known(client)
  await held.release()
  await within(SOON_MS, isInside.promise)
  await queue.join('b', rig.witness())
  await queue.join('a3', client)
  goOn.resolve()
  await queue.served()
  expect(queue.order).toEqual(['a1', 'a2', 'b', 'a3'])
})

test('after a lost message, the waiters are served in order, and their tokens rise', async () => {
  const client = patient()
  const held = await holding()
  const queue = new Queue(rig)
  await queue.joinAll(NAMES, () => client)
  await known(client)
  rig.proxy.blackHole({ only: 'subscriber', onHeal: 'drop' })
  await held.release()
  await queue.served()
  expect(queue.order).toEqual(NAMES)
  expect(await rig.queue('it')).toEqual([])
  await rig.proxy.heal()
})

test('an old message with a run gives the lock to no waiter', async () => {
  const client = patient()
  const held = await holding()
  const queue = new Queue(rig)
  await queue.joinAll(['a1', 'a2'], () => client)
  await known(client)
  const [first, second] = await rig.queue('it')
  const old = `${held.token}+1 ${first} ${second} it`
  await rig.server.admin.publish(`holdfast_inbox:${client.id}`, old)
  await pause(100)
  expect(queue.order).toEqual([])
  await held.release()
  await queue.served()
  expect(queue.order).toEqual(['a1', 'a2'])
})

test('the run of a message that a waiter did not use is no run of a later grant', async () => {
  const client = patient()
  const held = await holding()
  const queue = new Queue(rig)
  await queue.joinAll(['a1', 'a2', 'a3'], () => client)
  await known(client)
  const [first, second, third] = await rig.queue('it')
  await rig.server.admin.publish(
    `holdfast_inbox:${client.id}`,
    `${held.token}+1 ${first} ${third} it`,
  )
  const grants = await grantsTo(client)
  await held.release()
  await queue.served()
  expect(grants[0]).toMatch(new RegExp(`^\\d+\\+2 ${first} ${second} ${third} it$`))
  expect(queue.order).toEqual(['a1', 'a2', 'a3'])
})

test('a first waiter with a fixed lease begins no run', async () => {
  const client = patient()
  const held = await holding()
  const queue = new Queue(rig)
  const fixed = client.getFairLock('it').lock(60_000)
  await rig.queued('it', 1)
  await queue.joinAll(['a2', 'a3'], () => client)
  await known(client)
  await held.release()
  const lease = await within(SOON_MS, fixed)
  await lease.release()
  await queue.served()
  expect(queue.order).toEqual(['a2', 'a3'])
  expect(queue.turns[0]?.token).toBeGreaterThan(lease.token)
  expect(requests(rig)).toMatchObject({ released: 2, confirmed: 2 })
})

describe('the confirmation of the grant', () => {
  test.each<Action>(['cutBefore', 'cutAfter', 'mute', 'duplicate'])(
    '%s: the lease of a later hold of the run still lasts',
    async (action) => {
      const client = rig.client()
      const diary = new Diary(client)
      const held = await holding()
      const queue = new Queue(rig)
      const trap = rig.proxy.onNextRequest(SHA.renew, action)
      await queue.join('a1', client)
      await queue.join('a2', client, async (lease) => {
        await eventually(() => lease.remaining() > 5_000)
        await pause(CLAIM_MS)
        expect(lease.valid).toBe(true)
        expect(await rig.server.admin.pttl('it')).toBeGreaterThan(5_000)
      })
      await known(client)
      await held.release()
      await trap.done
      await queue.served()
      expect(queue.order).toEqual(['a1', 'a2'])
      expect(diary.lost).toEqual([])
    },
  )
})

describe('the release that ends the run', () => {
  test.each<Action>(['cutBefore', 'cutAfter', 'mute', 'duplicate'])(
    '%s: the next client is served, and no place is left',
    async (action) => {
      const client = rig.client()
      const held = await holding()
      const queue = new Queue(rig)
      let trap: { done: Promise<void> } | undefined
      await queue.join('a1', client)
      await queue.join('a2', client, () => {
        trap = rig.proxy.onNextRequest(SHA.releaseFair, action)
      })
      await queue.join('b', rig.witness())
      await known(client)
      await held.release()
      await queue.served()
      await trap?.done
      expect(queue.order).toEqual(['a1', 'a2', 'b'])
      await eventually(async () => (await rig.queue('it')).length === 0)
      expect(await rig.exists('it')).toBe(false)
    },
  )
})

test('a client that dies before its confirmation delays the next client by the claim window only', async () => {
  const client = rig.client()
  const held = await holding()
  const first = outcome(client.getFairLock('it').lock())
  await rig.queued('it', 1)
  const second = outcome(client.getFairLock('it').lock())
  await rig.queued('it', 2)
  const behind = rig.witness().getFairLock('it').lock()
  await rig.queued('it', 3)
  await known(client)
  rig.proxy.blackHole({ onHeal: 'drop' })
  await held.release()
  // Each place of the client may receive one grant. The places end 3 s after the last heartbeat of the client.
  const next = await within(3_000 + CLAIM_MS + 500 + NOISE_MS, behind)
  await next.release()
  await rig.proxy.heal()
  for (const one of [first, second]) await (await within(SOON_MS, one)).value?.release()
})

test('a client that dies in a run delays the next client until its lease ends, and no longer', async () => {
  const leaseMs = 4_500
  const client = rig.client({ leaseMs })
  const held = await holding()
  const queue = new Queue(rig)
  await queue.joinAll(['a1', 'a2'], () => client)
  const last = client.getFairLock('it').lock()
  await rig.queued('it', 3)
  const later = outcome(client.getFairLock('it').lock())
  await rig.queued('it', 4)
  const behind = rig.witness().getFairLock('it').lock()
  await rig.queued('it', 5)
  await known(client)
  await held.release()
  await within(SOON_MS, last)
  const hole = rig.proxy.blackHole({ onHeal: 'drop' })
  const next = await within(leaseMs + NOISE_MS, behind)
  await next.release()
  hole.heal()
  await (await within(SOON_MS, later)).value?.release()
})

test('other clients see the hold of a run, and the waiters behind it', async () => {
  const client = rig.client()
  const held = await holding()
  const queue = new Queue(rig)
  let seen: unknown
  await queue.join('a1', client)
  await queue.join('a2', client, async (lease) => {
    const { holder, queueLength } = await rig.witness().getFairLock('it').inspect()
    seen = { isHeld: holder === lease.owner, isBehind: queueLength >= 1 }
    expect(await rig.hash('it')).toEqual({ [lease.owner]: '1' })
  })
  await queue.join('a3', client)
  await known(client)
  await held.release()
  await queue.served()
  expect(seen).toEqual({ isHeld: true, isBehind: true })
})

test('a run that another client takes by force is followed by the next client, whose token is greater', async () => {
  const client = rig.client()
  const witness = rig.witness()
  const held = await holding()
  const queue = new Queue(rig)
  await queue.join('a1', client)
  const second = client.getFairLock('it').lock()
  await rig.queued('it', 2)
  const behind = witness.getFairLock('it').lock()
  await rig.queued('it', 3)
  await known(client)
  await held.release()
  const lease = await within(SOON_MS, second)
  expect(await witness.getFairLock('it').forceUnlock()).toBe(true)
  const next = await within(SOON_MS, behind)
  expect(next.token).toBeGreaterThan(lease.token)
  expect(await lease.release()).toBe(false)
  expect(await next.release()).toBe(true)
  await eventually(async () => (await rig.queue('it')).length === 0)
})

test('each leader of an election has a new grant, even after a message', async () => {
  const [client, other] = [patient(), rig.witness()]
  const goOn = deferred<void>()
  const first = other.getLeaderElection('it').lead(() => goOn.promise)
  await eventually(() => rig.exists('it'))
  const terms: { owner: string; holders: string[] }[] = []
  const leading = [0, 1, 2].map(() =>
    client.getLeaderElection('it').lead(async ({ owner }) => {
      terms.push({ owner, holders: Object.keys(await rig.hash('it')) })
    }),
  )
  await rig.queued('it', 3)
  await known(client)
  goOn.resolve()
  await within(SOON_MS, Promise.all([first, ...leading]))
  expect(new Set(terms.map(({ owner }) => owner)).size).toBe(3)
  for (const { owner, holders } of terms) expect(holders).toEqual([owner])
})
