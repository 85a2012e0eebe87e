import { Holdfast, type Lease } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { Diary, faultRig, within } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import type { Action } from '../support/proxy.ts'
import * as scripts from '../support/scripts.ts'

/** Calls of fair locks that a client makes in one turn of the event loop. */
const rig = faultRig()

/** With these times, no request is repeated because an answer is late. */
const PATIENT = { commandTimeoutMs: 20_000, outageMs: 20_000 }
const SOON_MS = 6_000
const NAMES = Array.from({ length: 12 }, (_, i) => `it ${i}`)

/** Sends a request. While it is in flight, the releases of the same turn are sent together. */
const keepBusy = (client: Holdfast): Promise<unknown> => client.getLock('busy').inspect()

const requests = () =>
  rig.proxy.requests.filter(({ command }) => command === 'EVALSHA').map(({ args }) => args[0])

/** Acquires the lock `count` times in one turn. Each holder records its number. */
function callAll(client: Holdfast, count: number, order: string[], who: string) {
  return Array.from({ length: count }, (_, i) =>
    client.getFairLock('it').using(() => {
      order.push(`${who}${i}`)
    }),
  )
}

const numbered = (who: string, count: number) => Array.from({ length: count }, (_, i) => who + i)

describe('calls for one lock in one turn of the event loop', () => {
  test('are one request, and get consecutive places in the order of the calls', async () => {
    const client = rig.client(PATIENT)
    const held = await rig.witness().getFairLock('it').lock()
    await client.getFairLock('other').isLocked()
    const before = requests().length
    const order: string[] = []
    const calls = callAll(client, 8, order, 'a')
    await rig.queued('it', 8)
    expect(requests().slice(before)).toEqual([scripts.batchFair.sha1])
    const owners = await rig.queue('it')
    const numbers = owners.map((owner) => Number.parseInt(owner.split(':')[1] as string, 36))
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b))
    await held.release()
    await within(SOON_MS, Promise.all(calls))
    expect(order).toEqual(numbered('a', 8))
  })

  test('get places that the calls of other clients do not divide', async () => {
    const clients = { a: rig.witness(), b: rig.witness(), c: rig.witness() }
    const held = await rig.witness().getFairLock('it').lock()
    for (const client of Object.values(clients)) await client.getFairLock('it').isLocked()
    const order: string[] = []
    const calls = Object.entries(clients).flatMap(([who, client]) =>
      callAll(client, 16, order, who),
    )
    await rig.queued('it', 48)
    await held.release()
    await within(SOON_MS, Promise.all(calls))
    const blocks = order.filter((who, i) => who[0] !== order[i - 1]?.[0])
    expect(blocks).toHaveLength(3)
    for (const who of Object.keys(clients)) {
      expect(order.filter((one) => one[0] === who)).toEqual(numbered(who, 16))
    }
  })

  test('the first call gets a free lock, and the client serves the others as a run', async () => {
    const client = rig.client({ ...PATIENT, leaseMs: 60_000 })
    await client.getFairLock('it').isLocked()
    const before = requests().length
    const order: string[] = []
    await within(SOON_MS, Promise.all(callAll(client, 6, order, 'a')))
    expect(order).toEqual(numbered('a', 6))
    const { batchFair, releaseFair, renew } = scripts
    expect(requests().slice(before)).toEqual(
      [batchFair, releaseFair, renew, releaseFair].map(({ sha1 }) => sha1),
    )
    expect(await rig.exists('it')).toBe(false)
  })

  test('keep their order when their time limits differ', async () => {
    const client = rig.client(PATIENT)
    const held = await rig.witness().getFairLock('it').lock()
    await client.getFairLock('it').isLocked()
    const order: number[] = []
    const waits = [undefined, 4_000, undefined, 500, undefined, 450, 4_000]
    const calls = waits.map(async (waitMs, i) => {
      const lock = client.getFairLock('it')
      const lease = waitMs === undefined ? await lock.lock() : await lock.tryLock({ waitMs })
      order.push(i)
      await lease?.release()
    })
    await rig.queued('it', waits.length)
    const numbers = (await rig.queue('it')).map((owner) =>
      Number.parseInt(owner.split(':')[1] as string, 36),
    )
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b))
    await held.release()
    await within(SOON_MS, Promise.all(calls))
    expect(order).toHaveLength(waits.length)
  })

  test.each<Action>(['cutBefore', 'cutAfter', 'mute', 'duplicate'])(
    'are repeated if the request meets a fault: %s',
    async (action) => {
      const client = rig.client({ commandTimeoutMs: 300 })
      const diary = new Diary(client)
      await client.getFairLock('it').isLocked()
      const trap = rig.proxy.onNextRequest(scripts.batchFair.sha1, action)
      const order: string[] = []
      const calls = callAll(client, 6, order, 'a')
      await trap.done
      await within(SOON_MS, Promise.all(calls))
      expect([...order].sort()).toEqual(numbered('a', 6))
      expect(diary.lost).toEqual([])
      await eventually(async () => (await rig.queue('it')).length === 0)
      await eventually(async () => !(await rig.exists('it')))
    },
  )

  test('get no place if the request arrives too late', async () => {
    const client = rig.client({ commandTimeoutMs: 300, outageMs: 2_000 })
    const held = await rig.witness().getFairLock('it').lock()
    await client.getFairLock('it').isLocked()
    rig.proxy.onNextRequest(scripts.batchFair.sha1, 'hold')
    const calls = Array.from({ length: 4 }, () => client.getFairLock('it').tryLock(250))
    const outcomes = await Promise.allSettled(calls)
    expect(outcomes.filter((one) => one.status === 'fulfilled' && one.value !== null)).toEqual([])
    await rig.proxy.heal()
    await held.release()
    await eventually(async () => (await rig.queue('it')).length === 0)
    await eventually(async () => !(await rig.exists('it')))
  })

  test('a release and a new call of the same turn reach the server in this order', async () => {
    const client = rig.client(PATIENT)
    const order: string[] = []
    const held = await client.getFairLock('it').lock()
    const busy = keepBusy(client)
    const releasing = held.release()
    const calls = callAll(client, 2, order, 'a')
    const plain = client.getLock('it').tryLock()
    await within(SOON_MS, Promise.all([busy, releasing, ...calls]))
    expect(order).toEqual(numbered('a', 2))
    await (await plain)?.release()
    expect(await rig.exists('it')).toBe(false)
  })
})

describe('calls for many fair locks in one turn of the event loop', () => {
  test('are one request, and so are their releases', async () => {
    const client = rig.client(PATIENT)
    await keepBusy(client)
    const before = requests().length
    const leases = await Promise.all(NAMES.map((name) => client.getFairLock(name).lock()))
    for (const [i, lease] of leases.entries()) {
      expect(await rig.hash(NAMES[i] as string)).toEqual({ [lease.owner]: '1' })
    }
    await Promise.all([keepBusy(client), ...leases.map((lease) => lease.release())])
    expect(requests().slice(before)).toEqual([
      scripts.batchFair.sha1,
      scripts.inspect.sha1,
      scripts.batchFair.sha1,
    ])
    expect(await rig.server.admin.exists(...NAMES)).toBe(0)
  })

  test('the releases of one request grant the locks to the waiters of other clients', async () => {
    const [client, other] = [rig.client(PATIENT), rig.witness()]
    const leases = await Promise.all(NAMES.map((name) => client.getFairLock(name).lock()))
    const waiting = NAMES.map((name) => other.getFairLock(name).lock())
    for (const name of NAMES) await rig.queued(name, 1)
    await Promise.all([keepBusy(client), ...leases.map((lease) => lease.release())])
    for (const next of waiting) await (await within(2_000, next)).release()
  })

  test('a release that lists served waiters goes together with other calls', async () => {
    const client = rig.client({ ...PATIENT, leaseMs: 60_000 })
    await client.getFairLock('it').isLocked()
    const others: Promise<Lease>[] = []
    const calls = [0, 1, 2, 3].map((i) =>
      client.getFairLock('it').using(() => {
        if (i < 3) return
        void keepBusy(client)
        others.push(client.getFairLock('other 1').lock(), client.getFairLock('other 2').lock())
      }),
    )
    await within(SOON_MS, Promise.all(calls))
    for (const lease of await Promise.all(others)) await lease.release()
    // The arguments of this release: an owner, a token, the maximum length of a run, and two served owners.
    const kinds = rig.proxy.requests
      .filter(({ args }) => args[0] === scripts.batchFair.sha1)
      .map(({ args }) => args[2 + Number(args[1]) + 6])
    expect(kinds).toContainEqual(expect.stringContaining('r5'))
    expect(await rig.queue('it')).toEqual([])
    expect(await rig.exists('it')).toBe(false)
  })

  test('a lock whose key is of another type fails alone', async () => {
    const client = rig.client()
    await rig.server.admin.set('it 3', 'precious')
    await keepBusy(client)
    const outcomes = await Promise.allSettled(NAMES.map((name) => client.getFairLock(name).lock()))
    const failed = outcomes.flatMap((one, i) => (one.status === 'rejected' ? [i] : []))
    expect(failed).toEqual([3])
    expect(outcomes[3]).toMatchObject({ reason: { code: 'HOLDFAST_REFUSED' } })
    for (const one of outcomes) if (one.status === 'fulfilled') await one.value.release()
    await rig.server.admin.del('it 3')
  })

  test('a lock that the server does not allow fails alone', async () => {
    const { admin, host, port } = rig.server
    await admin.call('ACL', 'SETUSER', 'few', 'on', 'nopass', '+@all', '&*', '~it*', '~*{it*')
    atEnd(() => admin.call('ACL', 'DELUSER', 'few').then(() => {}))
    const client = new Holdfast({ redis: { host, port, username: 'few', password: 'x' } })
    atEnd(() => client.close(), { beforeCheck: true })
    await client.getFairLock('it').isLocked()
    const names = [...NAMES, 'forbidden']
    const outcomes = await Promise.allSettled(names.map((name) => client.getFairLock(name).lock()))
    const failed = outcomes.flatMap((one, i) => (one.status === 'rejected' ? [names[i]] : []))
    expect(failed).toEqual(['forbidden'])
    for (const one of outcomes) if (one.status === 'fulfilled') await one.value.release()
  })
})
