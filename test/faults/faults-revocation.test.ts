import { Holdfast, type ReleaseRequestedEvent } from '../../src/index.ts'
import { newMemoryClient } from '../../src/memory-client.ts'
import { MemoryLockServer } from '../../src/servers/memory/memory-server.ts'
import { VirtualClock } from '../../src/servers/memory/virtual-clock.ts'
import { startChild } from '../support/children.ts'
import { eventually, never } from '../support/eventually.ts'
import { faultRig, within } from '../support/fault-rig.ts'
import { leaves } from '../support/leaks.ts'
import { atEnd } from '../support/lifetime.ts'

const rig = faultRig()

const channelOf = (client: Holdfast) => `holdfast_requests:${client.id}`

function heardBy(client: Holdfast): ReleaseRequestedEvent[] {
  const events: ReleaseRequestedEvent[] = []
  client.on('releaseRequested', (event) => events.push(event))
  return events
}

const listeners = async (channel: string) =>
  Number((await rig.server.admin.pubsub('NUMSUB', channel))[1])

const hears = (client: Holdfast) =>
  eventually(async () => (await listeners(channelOf(client))) === 1, {
    message: 'the subscription of the holder',
  })

describe('a release request', () => {
  test.each(['cutBefore', 'cutAfter', 'mute', 'duplicate', 'holdReply'] as const)(
    'reaches the holder once when its fault is "%s"',
    async (action) => {
      const holder = rig.witness()
      const events = heardBy(holder)
      const lease = await holder.getLock('it').lock()
      await hears(holder)
      // The holder answers within this time, even if the machine stalls.
      const requester = rig.client({ commandTimeoutMs: 1_000 })
      const trap = rig.proxy.onNextRequest(channelOf(holder), action)
      expect(await requester.getLock('it').requestRelease({ reason: 'please' })).toBe(1)
      await trap.seen
      expect(events).toHaveLength(1)
      trap.release()
      await never(() => events.length > 1, 30)
      await lease.release()
    },
  )

  test('returns 0 when the holder answers after the requester gave up', async () => {
    const holder = rig.client()
    const events = heardBy(holder)
    const lease = await holder.getLock('it').lock()
    await hears(holder)
    const requester = rig.witness({ commandTimeoutMs: 1_500 })
    const trap = rig.proxy.onNextRequest(channelOf(requester), 'hold')
    expect(await requester.getLock('it').requestRelease()).toBe(0)
    await trap.seen
    expect(events).toHaveLength(1)
    trap.release()
    expect(await requester.getLock('it').requestRelease()).toBe(1)
    await lease.release()
  })

  test('does not reach a holder whose subscription has broken, but the next request does', async () => {
    const holder = rig.client()
    const events = heardBy(holder)
    const lease = await holder.getLock('it').lock()
    await hears(holder)
    const requester = rig.witness()
    rig.proxy.refuse()
    rig.proxy.cut('subscriber')
    await eventually(async () => (await listeners(channelOf(holder))) === 0)
    expect(await requester.getLock('it').requestRelease()).toBe(0)
    await rig.proxy.heal()
    await hears(holder)
    expect(await requester.getLock('it').requestRelease()).toBe(1)
    expect(events).toHaveLength(1)
    await lease.release()
  })

  test('returns 0 for a frozen process within `commandTimeoutMs`, and arrives when the process continues', async () => {
    const args = [String(rig.server.port)]
    const child = startChild('test/faults/fixtures/asked.mjs', { args })
    const { id } = await child.next<{ id: string }>((message) => typeof message === 'object')
    await eventually(async () => (await listeners(`holdfast_requests:${id}`)) === 1)
    const requester = rig.witness({ commandTimeoutMs: 500 })
    child.kill('SIGSTOP')
    const requesting = requester.getLock('it').requestRelease()
    expect(await within(3_000, requesting)).toBe(0)
    child.kill('SIGCONT')
    // The request arrives late, but still counts.
    expect(await child.next<{ asked: string }>()).toEqual({ asked: 'it' })
    expect(await rig.witness().getLock('it').requestRelease()).toBe(1)
    await child.stop()
    leaves({ keys: true, why: 'the holder was killed' })
  })

  test('rejects during an outage', async () => {
    const lease = await rig.witness().getLock('it').lock()
    const requester = rig.client({ outageMs: 500 })
    requester.on('error', () => {})
    await eventually(() => requester.getLock('it').isLocked())
    rig.proxy.blackHole({ onHeal: 'drop' })
    await expect(
      requester.getLock('it').requestRelease({ owner: lease.owner }),
    ).rejects.toMatchObject({ code: 'HOLDFAST_UNAVAILABLE', lockName: 'it' })
    await rig.proxy.heal()
    await lease.release()
  })
})

test('a message that is not a valid request or answer changes nothing', async () => {
  const holder = rig.witness()
  const events = heardBy(holder)
  const errors: Error[] = []
  holder.on('error', (error) => errors.push(error))
  const lease = await holder.getLock('it').lock()
  const { owner } = lease
  await hears(holder)
  const requester = rig.witness({ commandTimeoutMs: 400 })
  const by = { client: requester.id, label: 'x' }
  const request = { kind: 'request', id: 'a', owners: [owner], reason: null, by }
  for (const message of [
    '',
    'x',
    'null',
    '[]',
    '{}',
    { kind: 'request' },
    { ...request, id: 5 },
    { ...request, owners: owner },
    { ...request, owners: [5] },
    { ...request, by: null },
    { ...request, by: { ...by, label: 5 } },
    { ...request, by: { ...by, client: 'other:channel {x}' } },
    { ...request, kind: 'other' },
    { kind: 'answer', id: 'a', client: holder.id, heard: 'x' },
    { kind: 'kept', id: 'a', key: 5, by },
    { kind: 'kept', id: 'a', key: 'it' },
    { kind: 'kept', id: 'a', key: 'unknown', by },
  ]) {
    const text = typeof message === 'string' ? message : JSON.stringify(message)
    await rig.server.admin.publish(channelOf(holder), text)
  }
  // A valid request follows the invalid requests.
  await rig.server.admin.publish(channelOf(holder), JSON.stringify(request))
  await eventually(() => events.length > 0)
  expect(events).toEqual([
    {
      name: 'it',
      owner,
      token: lease.token,
      reason: null,
      by: { client: requester.id, label: 'x' },
    },
  ])
  expect(errors).toEqual([])
  expect(lease.valid).toBe(true)
  await lease.release()
})

describe('a client without the right to the channel', () => {
  async function limited(): Promise<(options?: object) => Holdfast> {
    const { admin } = rig.server
    await admin.call('ACL', 'SETUSER', 'limited', 'on', '>secret', '+@all', 'allkeys')
    await admin.call('ACL', 'SETUSER', 'limited', 'resetchannels', '&redisson_lock__channel:*')
    atEnd(() => admin.call('ACL', 'DELUSER', 'limited'), { beforeCheck: true })
    const redis = { host: rig.proxy.host, port: rig.proxy.port, username: 'limited' }
    return (options = {}) => {
      const client = new Holdfast({ redis: { ...redis, password: 'secret' }, ...options })
      atEnd(() => client.close(), { beforeCheck: true })
      return client
    }
  }

  test('a holder receives no request, and still waits for locks, even after a reconnect', async () => {
    const holder = (await limited())()
    heardBy(holder)
    const lease = await holder.getLock('it').lock()
    const taken = await rig.witness().getLock('other').lock()
    const waiting = holder.getLock('other').lock()
    await rig.listening('other')
    expect(await rig.witness().getLock('it').requestRelease()).toBe(0)
    rig.proxy.cut('subscriber')
    await eventually(() => rig.proxy.count('SUBSCRIBE') >= 4)
    await rig.listening('other')
    await taken.release()
    await (await waiting).release()
    await lease.release()
  })

  test('the error of a requester names the channel', async () => {
    const holder = rig.witness()
    heardBy(holder)
    const lease = await holder.getLock('it').lock()
    await hears(holder)
    const requester = (await limited())({ outageMs: 5_000, commandTimeoutMs: 2_000 })
    await expect(requester.getLock('it').requestRelease()).rejects.toThrow(/holdfast_requests:/)
    await lease.release()
  })
})

describe('the subscription of a holder', () => {
  test('ends some seconds after the last hold, and begins again with the next hold', async () => {
    const clock = new VirtualClock()
    const server = new MemoryLockServer(() => clock.wall, clock)
    await using holder = newMemoryClient(server)
    await using requester = newMemoryClient(server)
    heardBy(holder)
    const asked = async () => {
      const asking = requester.getLock('it').requestRelease()
      await clock.advance(0)
      return asking
    }
    for (let round = 0; round < 2; round++) {
      const lease = await holder.getLock('it').lock()
      expect(await asked()).toBe(1)
      await clock.advance(60_000)
      expect(server.messages.names).toEqual([`requests ${holder.id}`])
      expect(await asked()).toBe(1)
      await lease.release()
      await clock.advance(10_000)
      expect(server.messages.names).toEqual([])
    }
  })

  test('fifty locks of one client share one subscription', async () => {
    const holder = rig.client({ commandTimeoutMs: 5_000 })
    heardBy(holder)
    const leases = await Promise.all(
      Array.from({ length: 50 }, (_, n) => holder.getLock(`it ${n}`).lock()),
    )
    for (const { releaseRequested } of leases) expect(releaseRequested.aborted).toBe(false)
    await hears(holder)
    expect(rig.proxy.count('SUBSCRIBE')).toBe(1)
    await Promise.all(leases.map((lease) => lease.release()))
  })
})
