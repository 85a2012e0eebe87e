import { setTimeout as pause } from 'node:timers/promises'
import type { Holdfast, HoldfastLock, Lease } from '../../src/index.ts'
import { eventually, never } from '../support/eventually.ts'
import { Diary, faultRig, outcome, SHA, within } from '../support/fault-rig.ts'
import type { ProxyRequest } from '../support/proxy.ts'
import { takes } from '../support/takes.ts'

/** The message that reports a grant to a waiter: lost, late, early or repeated. */
const rig = faultRig()

/** The claim window, and the extra time of a busy machine, in milliseconds. */
const CLAIM_MS = 1_500
const NOISE_MS = 1_000

/** A client that keeps its connections while the test delays messages. */
const newClient = () => rig.client({ commandTimeoutMs: 10_000 })

/** Publishes a message that grants the lock to this owner with this token. */
const say = (client: Holdfast, token: number, owner: string, name: string) =>
  rig.server.admin.publish(`holdfast_inbox:${client.id}`, `${token} ${owner} ${name}`)

test('the heartbeat finds a grant whose message was lost', async () => {
  const client = newClient()
  const held = await rig.witness().getFairLock('it').lock()
  const pending = client.getFairLock('it').lock()
  await rig.queued('it', 1)
  await rig.hears(client)
  rig.proxy.blackHole({ only: 'subscriber', onHeal: 'drop' })
  await held.release()
  const lease = await takes({ atMost: CLAIM_MS }, pending)
  expect(lease.valid).toBe(true)
  expect(await rig.hash('it')).toEqual({ [lease.owner]: '1' })
  await lease.release()
})

test('a waiter accepts a grant without a request, and confirms it with one request', async () => {
  const client = newClient()
  const held = await rig.witness().getFairLock('it').lock()
  const pending = client.getFairLock('it').lock()
  await rig.queued('it', 1)
  await rig.hears(client)
  const asked = rig.proxy.count(SHA.acquireFair)
  await held.release()
  const lease = await pending
  await eventually(() => lease.remaining() > 5_000)
  expect(rig.proxy.count(SHA.acquireFair)).toBe(asked)
  expect(rig.proxy.count(SHA.renew)).toBe(1)
  await lease.release()
})

test.each([
  { kind: 'fixed', options: { leaseMs: 1_200 }, forMs: 100 },
  { kind: 'watched', options: {}, forMs: 600 },
])(
  'a waiter gets the whole of a $kind lease that is shorter than a claim window',
  async ({ options, forMs }) => {
    const client = rig.client({ commandTimeoutMs: 10_000, leaseMs: 1_200 })
    const diary = new Diary(client)
    const held = await rig.witness().getFairLock('it').lock()
    const pending = client.getFairLock('it').lock(options)
    await rig.queued('it', 1)
    await rig.hears(client)
    // Now the last answer of the server is as old as possible.
    await pause(450)
    await held.release()
    const lease = await within(NOISE_MS, pending)
    // A lease that counted from the last answer would end half a second sooner than the lease in Redis.
    await eventually(async () => {
      const leftMs = lease.remaining()
      return leftMs > (await rig.server.admin.pttl('it')) - 300
    })
    expect(await rig.server.admin.pttl('it')).toBeGreaterThan(400)
    await never(() => diary.lost.length > 0, forMs)
    expect(await lease.release()).toBe(true)
  },
)

test.each([
  { leaseMs: 1_200, confirmations: 0 },
  { leaseMs: 5_000, confirmations: 1 },
])(
  'a grant by a release of the same client, for a lease of $leaseMs ms, needs $confirmations confirmations',
  async ({ leaseMs, confirmations }) => {
    const client = newClient()
    const lock = client.getFairLock('it')
    const held = await lock.lock({ leaseMs: 10_000 })
    const pending = lock.lock({ leaseMs })
    await rig.queued('it', 1)
    await rig.hears(client)
    await held.release()
    const lease = await within(NOISE_MS, pending)
    const ttlMs = await rig.server.admin.pttl('it')
    expect(ttlMs).toBeGreaterThanOrEqual(lease.remaining())
    expect(await lease.release()).toBe(true)
    // A check of a fixed lease has the lease time 0 ms, so it does not count here.
    const confirms = ({ args }: ProxyRequest) =>
      args[0] === SHA.renew && Number(args[2 + Number(args[1])]) > 0
    expect(rig.proxy.count(confirms)).toBe(confirmations)
  },
)

test('a waiter ignores a message that arrives after its grant is over, and keeps its place', async () => {
  const client = newClient()
  const diary = new Diary(client)
  const held = await rig.witness().getFairLock('it').lock()
  const first = client.getFairLock('it').lock()
  await rig.queued('it', 1)
  await rig.hears(client)
  const second = rig.witness().getFairLock('it').lock()
  await rig.queued('it', 2)
  const third = rig.witness().getFairLock('it').lock()
  await rig.queued('it', 3)
  const order = await rig.queue('it')

  const messages = rig.proxy.blackHole({ only: 'subscriber' })
  const others = rig.proxy.blackHole({ only: 'commands' })
  const limits = { atLeast: CLAIM_MS - 50, atMost: CLAIM_MS + 3 * NOISE_MS }
  const next = await takes(limits, async () => {
    await held.release()
    return second
  })
  // The message arrives first, and no other answer shows that the message is old.
  messages.heal()
  await never(() => diary.acquired.length > 0, 100)
  others.heal()
  await rig.queued('it', 2)
  expect(await rig.queue('it')).toEqual([order[0], order[2]])
  await never(() => diary.acquired.length > 0, 100)
  await next.release()
  const lease = await within(NOISE_MS, first)
  expect(lease.token).toBeGreaterThan(next.token)
  await lease.release()
  await (await within(NOISE_MS, third)).release()
})

test('a waiter confirms a late message before it accepts the grant', async () => {
  const client = newClient()
  const held = await rig.witness().getFairLock('it').lock()
  const pending = client.getFairLock('it').lock()
  await rig.queued('it', 1)
  await rig.hears(client)
  // Without heartbeats, the last answer of the server becomes too old to rely on.
  const beats = rig.proxy.onNextRequest(SHA.heartbeat, 'holdReply')
  const answeredAt = performance.now()
  await beats.seen
  await pause(answeredAt + 0.85 * CLAIM_MS - performance.now())
  const ask = rig.proxy.onNextRequest(SHA.acquireFair, 'pass')
  await held.release()
  await within(CLAIM_MS + NOISE_MS, ask.seen)
  beats.release()
  const lease = await within(NOISE_MS, pending)
  await eventually(() => lease.remaining() > 5_000)
  await lease.release()
})

test('a waiter drops a message after an answer says that another client holds the lock', async () => {
  const client = newClient()
  const diary = new Diary(client)
  const held = await rig.witness().getFairLock('it').lock()
  const pending = client.getFairLock('it').lock()
  await rig.queued('it', 1)
  await rig.hears(client)
  const [place = ''] = await rig.queue('it')
  // As in the test above, the client sends a request. But the server has forgotten the grant, like a server that
  // replaced the old one.
  const beats = rig.proxy.onNextRequest(SHA.heartbeat, 'holdReply')
  const answeredAt = performance.now()
  await beats.seen
  await pause(answeredAt + 0.85 * CLAIM_MS - performance.now())
  const ask = rig.proxy.onNextRequest(SHA.acquireFair, 'pass')
  await say(client, held.token + 1, place, 'it')
  await within(CLAIM_MS + NOISE_MS, ask.seen)
  beats.release()
  await ask.done
  await rig.listening('it')
  const again = rig.proxy.onNextRequest(SHA.acquireFair, 'pass')
  await rig.server.admin.publish('redisson_lock__channel:{it}', '0')
  await within(NOISE_MS, again.done)
  await never(() => diary.acquired.length > 0, 100)
  await held.release()
  await (await within(NOISE_MS, pending)).release()
})

test('a waiter ignores a message when the counter is lost, because the message may be old', async () => {
  const client = newClient()
  const diary = new Diary(client)
  const held = await rig.witness().getFairLock('it').lock()
  await rig.server.admin.del('redisson_lock_token:{it}')
  const pending = client.getFairLock('it').lock()
  await rig.queued('it', 1)
  await rig.hears(client)
  const [place = ''] = await rig.queue('it')
  await say(client, held.token, place, 'it')
  await never(() => diary.acquired.length > 0, 200)
  await held.release()
  const lease = await within(NOISE_MS, pending)
  expect(lease.token).toBeGreaterThan(held.token)
  await lease.release()
})

test('a waiter accepts a message that arrives before the reply to its own request', async () => {
  const client = newClient()
  const witness = rig.witness()
  // The client waits for another lock, so that it already listens.
  const another = await witness.getFairLock('another').lock()
  const elsewhere = client.getFairLock('another').lock()
  await rig.queued('another', 1)
  await rig.hears(client)
  await rig.proxy.onNextRequest(SHA.heartbeat, 'pass').done

  const held = await witness.getFairLock('it').lock()
  const asking = rig.proxy.onNextRequest(SHA.acquireFair, 'holdReply')
  const pending = client.getFairLock('it').lock()
  await rig.queued('it', 1)
  await held.release()
  await eventually(async () => (await rig.queue('it')).length === 0)
  await pause(20) // wait for the message, because nothing else shows its arrival
  asking.release()
  const lease = await within(NOISE_MS, pending)
  expect(await rig.hash('it')).toEqual({ [lease.owner]: '1' })
  await lease.release()
  await another.release()
  await (await elsewhere).release()
})

test('a repeated message grants nothing to a later waiter of the same owner', async () => {
  const client = newClient()
  const lock = client.getFairLock('it', { owner: client.owner() })
  const witness = rig.witness()
  const held = await witness.getFairLock('it').lock()
  const pending = lock.lock()
  await rig.queued('it', 1)
  await rig.hears(client)
  await held.release()
  const lease = await pending
  await lease.release()

  const next = await witness.getFairLock('it').lock()
  const again = lock.lock()
  await rig.queued('it', 1)
  const [name] = await rig.queue('it')
  expect(name).not.toBe(lease.owner)
  await say(client, lease.token, lease.owner, 'it')
  const asked = outcome(again)
  await say(client, lease.token, name ?? '', 'it')
  await never(async () => Object.hasOwn(await rig.hash('it'), name ?? ''), 300)
  expect(next.valid).toBe(true)
  await next.release()
  const { value } = await within(NOISE_MS, asked)
  expect(value?.token).toBeGreaterThan(next.token)
  // The messages also do not disturb a holder.
  await say(client, lease.token, lease.owner, 'it')
  await say(client, value?.token ?? 0, name ?? '', 'it')
  expect(await lock.holdCount()).toBe(1)
  expect(await value?.release()).toBe(true)
})

test('a client ignores malformed messages, and messages with another token or lock', async () => {
  const client = newClient()
  const held = await rig.witness().getFairLock('it').lock()
  const pending = client.getFairLock('it').lock()
  await rig.queued('it', 1)
  await rig.hears(client)
  const [place = ''] = await rig.queue('it')
  for (const text of [
    '',
    '0',
    'x y z',
    `-1 ${place} it`,
    `NaN ${place} it`,
    `${2 ** 60} nobody it`,
  ]) {
    await rig.server.admin.publish(`holdfast_inbox:${client.id}`, text)
  }
  await say(client, held.token, place, 'it')
  await say(client, held.token + 1, place, 'another')
  await never(async () => Object.hasOwn(await rig.hash('it'), place), 100)
  await held.release()
  await (await within(NOISE_MS, pending)).release()
})

test('a waiter is served even when the tokens went back', async () => {
  const client = newClient()
  await rig.witness().getFairLock('it').lock()
  const anHourAhead = (Date.now() + 3_600_000) * 1_000
  await rig.server.admin.set('redisson_lock_token:{it}', anHourAhead, 'PX', 60_000)
  const pending = client.getFairLock('it').lock()
  await rig.queued('it', 1)
  await rig.server.flush()
  const lease = await within(CLAIM_MS + 2 * NOISE_MS, pending)
  expect(lease.token).toBeLessThan(anHourAhead)
  await lease.release()
})

test('a client that soon waits again keeps its turn although it does not receive messages yet', async () => {
  const client = newClient()
  const lock = client.getFairLock('it')
  const before = rig.witness().getFairLock('it')
  const behind = rig.witness().getFairLock('it')

  /** The client waits and receives the lock. Then another client acquires the lock. */
  async function waitOnce(held: Lease, next: HoldfastLock): Promise<Lease> {
    const pending = lock.lock()
    await rig.queued('it', 1)
    await rig.hears(client)
    const after = next.lock()
    await rig.queued('it', 2)
    await held.release()
    await (await pending).release()
    return after
  }

  const start = performance.now()
  let held = await waitOnce(await before.lock(), behind)
  // The client assumes for 750 ms that it receives messages. The next request checks this.
  await pause(850 - (performance.now() - start))
  held = await waitOnce(held, before)
  await rig.hears(client, 'not')
  rig.proxy.delay(200, { only: 'subscriber', direction: 'toServer' })
  const first = lock.lock()
  await rig.queued('it', 1)
  const second = behind.lock()
  await rig.queued('it', 2)
  await held.release()
  const served = await Promise.race([first, second])
  expect(served.owner.startsWith(`${client.id}:`)).toBe(true)
  await served.release()
  await (await second).release()
})
