import { Holdfast } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { faultRig, within } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import { counterOf } from '../support/promised-keys.ts'
import * as scripts from '../support/scripts.ts'

const rig = faultRig()

/** With these times, no request is repeated because an answer is late. */
const PATIENT = { commandTimeoutMs: 20_000, outageMs: 20_000 }

const NAMES = Array.from({ length: 12 }, (_, i) => `it ${i}`)

/** Sends a request. While it is in flight, the other requests of the same turn are sent together. */
function keepBusy(client: Holdfast): Promise<unknown> {
  return client.getLock('busy').inspect()
}

const requests = () =>
  rig.proxy.requests.filter(({ command }) => command === 'EVALSHA').map(({ args }) => args[0])

describe('calls for many locks in one turn of the event loop', () => {
  test('many acquisitions are one request, and so are many releases', async () => {
    const client = rig.client(PATIENT)
    await keepBusy(client)
    const before = requests().length
    const [, ...leases] = await Promise.all([
      keepBusy(client),
      ...NAMES.map((name) => client.getLock(name).lock()),
    ])
    for (const [i, lease] of leases.entries()) {
      const name = NAMES[i] as string
      expect(await rig.hash(name)).toEqual({ [lease.owner]: '1' })
      expect(await rig.server.admin.get(counterOf(name))).toBe(String(lease.token))
    }
    await Promise.all([keepBusy(client), ...leases.map((lease) => lease.release())])
    expect(requests().slice(before)).toEqual([
      scripts.inspect.sha1,
      scripts.batch.sha1,
      scripts.inspect.sha1,
      scripts.batch.sha1,
    ])
    expect(await rig.server.admin.exists(...NAMES)).toBe(0)
  })

  test('the releases of one request wake the waiters of each lock', async () => {
    const [client, other] = [rig.client(PATIENT), rig.witness()]
    const names = [...NAMES, '{tagged} it']
    const leases = await Promise.all(names.map((name) => client.getLock(name).lock()))
    const waiting = names.map((name) => other.getLock(name).lock())
    for (const name of names) {
      await eventually(async () => (await client.getLock(name).inspect()).waiters > 0)
    }
    const before = requests().length
    await Promise.all([keepBusy(client), ...leases.map((lease) => lease.release())])
    expect(requests().slice(before)).toEqual([scripts.inspect.sha1, scripts.batch.sha1])
    for (const next of waiting) await (await within(2_000, next)).release()
  })

  test('re-entries and nested releases work as they do alone', async () => {
    const client = rig.client()
    const owner = client.owner()
    const locks = NAMES.map((name) => client.getLock(name, { owner }))
    await Promise.all(locks.map((lock) => lock.lock()))
    const inner = await Promise.all([
      keepBusy(client),
      ...locks.map((lock) => lock.lock({ leaseMs: 60_000 })),
    ])
    for (const name of NAMES) {
      expect(Object.values(await rig.hash(name))).toEqual(['2'])
      expect(await rig.server.admin.pttl(name)).toBeGreaterThan(30_000)
    }
    expect(inner).toHaveLength(NAMES.length + 1)
    await Promise.all([keepBusy(client), ...locks.map((lock) => lock.unlock())])
    for (const name of NAMES) expect(Object.values(await rig.hash(name))).toEqual(['1'])
    await Promise.all([keepBusy(client), ...locks.map((lock) => lock.unlock())])
    expect(await rig.server.admin.exists(...NAMES)).toBe(0)
  })

  test('a lock whose key is of another type fails alone', async () => {
    const client = rig.client()
    await rig.server.admin.set('it 3', 'precious')
    await keepBusy(client)
    const [, ...outcomes] = await Promise.allSettled([
      keepBusy(client),
      ...NAMES.map((name) => client.getLock(name).lock()),
    ])
    const failed = outcomes.flatMap((one, i) => (one.status === 'rejected' ? [i] : []))
    expect(failed).toEqual([3])
    expect(outcomes[3]).toMatchObject({ reason: { code: 'HOLDFAST_REFUSED' } })
    for (const one of outcomes) if (one.status === 'fulfilled') await one.value.release()
    await rig.server.admin.del('it 3')
  })

  test('the calls are sent once, although the key of one lock is of another type', async () => {
    const client = rig.client(PATIENT)
    await rig.server.admin.set('it 3', 'precious')
    await keepBusy(client)
    const before = requests().length
    const [, ...outcomes] = await Promise.allSettled([
      keepBusy(client),
      ...NAMES.map((name) => client.getLock(name).tryLock()),
    ])
    expect(requests().slice(before)).toEqual([scripts.inspect.sha1, scripts.batch.sha1])
    for (const one of outcomes) if (one.status === 'fulfilled') await one.value?.release()
    await rig.server.admin.del('it 3')
  })

  test('a lock that the server does not allow fails alone', async () => {
    const { admin, host, port } = rig.server
    await admin.call('ACL', 'SETUSER', 'few', 'on', 'nopass', '+@all', '&*', '~it*', '~*{it*')
    atEnd(() => admin.call('ACL', 'DELUSER', 'few').then(() => {}))
    const client = new Holdfast({ redis: { host, port, username: 'few', password: 'x' } })
    atEnd(() => client.close(), { beforeCheck: true })
    await client.getLock('it').inspect()
    const names = [...NAMES, 'forbidden']
    const [, ...outcomes] = await Promise.allSettled([
      client.getLock('it').inspect(),
      ...names.map((name) => client.getLock(name).lock()),
    ])
    const failed = outcomes.flatMap((one, i) => (one.status === 'rejected' ? [names[i]] : []))
    expect(failed).toEqual(['forbidden'])
    for (const one of outcomes) if (one.status === 'fulfilled') await one.value.release()
  })

  test('each call is repeated when the answer is lost', async () => {
    const client = rig.client({ commandTimeoutMs: 300 })
    await keepBusy(client)
    const trap = rig.proxy.onNextRequest(scripts.batch.sha1, 'cutAfter')
    const locks = NAMES.map((name) => client.getLock(name))
    const [, ...leases] = await Promise.all([keepBusy(client), ...locks.map((lock) => lock.lock())])
    await trap.done
    for (const [i, lease] of leases.entries()) {
      expect(await rig.hash(NAMES[i] as string)).toEqual({ [lease.owner]: '1' })
    }
    await Promise.all(leases.map((lease) => lease.release()))
    await eventually(async () => (await rig.server.admin.exists(...NAMES)) === 0)
  })

  test('calls that arrive too late acquire nothing', async () => {
    const client = rig.client({ commandTimeoutMs: 300, outageMs: 2_000 })
    await keepBusy(client)
    rig.proxy.onNextRequest(scripts.batch.sha1, 'hold')
    const [, ...outcomes] = await Promise.allSettled([
      keepBusy(client),
      ...NAMES.map((name) => client.getLock(name).tryLock({ waitMs: 250 })),
    ])
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toEqual([])
    await rig.proxy.heal()
    await eventually(async () => (await rig.server.admin.exists(...NAMES)) === 0)
  })
})

test('a lone call is sent at once, before its caller can block the event loop', async () => {
  const lease = await rig.witness().getLock('it').lock()
  const opener = rig.server.admin.duplicate()
  const monitor = await opener.monitor()
  for (const one of [opener, monitor]) atEnd(() => one.disconnect(), { beforeCheck: true })
  const sentAt: number[] = []
  monitor.on('monitor', (time: string, args: string[]) => {
    if (args.includes(scripts.release.sha1)) sentAt.push(Number(time) * 1_000)
  })
  const startedAt = Date.now()
  const releasing = lease.release()
  while (Date.now() < startedAt + 1_000);
  const unblockedAt = Date.now()
  await releasing
  await eventually(() => sentAt.length > 0)
  expect(sentAt[0]).toBeLessThan(unblockedAt)
})

test('an answer that came while the event loop was blocked counts, although its time has passed', async () => {
  const client = rig.witness({ commandTimeoutMs: 1_000, outageMs: 1_000 })
  const lease = await client.getLock('it').lock()
  const releasing = lease.release()
  const startedAt = Date.now()
  while (Date.now() < startedAt + 1_300);
  expect(await releasing).toBe(true)
})
