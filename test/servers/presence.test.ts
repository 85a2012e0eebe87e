import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast } from '../../src/index.ts'
import { scaledMs } from '../support/at-load.ts'
import { eventually, never } from '../support/eventually.ts'
import { faultRig, SHA } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import { notesOf } from '../support/notes.ts'
import { Cluster } from '../support/quorum-rig.ts'
import { startCluster } from '../support/redis-cluster.ts'
import { startRedis } from '../support/redis-server.ts'
import { touch } from '../support/scripts.ts'
import { takes } from '../support/takes.ts'
import { warm } from '../support/warm.ts'

const rig = faultRig()
/** With these times, a late answer causes no repeated request and no new connection. */
const PATIENT = { commandTimeoutMs: 5_000, outageMs: 20_000 }
const keyOf = ({ id }: Holdfast) => `holdfast_client:{${id}}`
const touches = () => rig.proxy.count(({ args }) => args[0] === touch.sha1)
const isTold = (client: Holdfast) =>
  eventually(() => rig.exists(keyOf(client)), { message: 'the client to be known' })

describe('a client that reports its facts', () => {
  test('other clients find the facts by the client id and by an owner id after the first request', async () => {
    const [client, other] = [rig.client({ label: 'billing' }), rig.witness()]
    const lease = await client.getLock('it').lock()
    await isTold(client)
    const info = await other.clientInfo(lease.owner)
    expect(info).toEqual({
      client: client.id,
      label: 'billing',
      host: hostname(),
      pid: process.pid,
      version: JSON.parse(readFileSync('package.json', 'utf8')).version,
      startedAt: expect.any(Number),
    })
    expect(info?.startedAt).toBeGreaterThan(performance.timeOrigin)
    // The wall clock may be adjusted during the test.
    expect(info?.startedAt).toBeLessThanOrEqual(Date.now() + 100)
    expect(await other.clientInfo(client.id)).toEqual(info)
    expect(await client.clientInfo(other.id)).toMatchObject({ client: other.id })
    await lease.release()
  })

  test('the facts are sent once for many requests, and expire within two minutes', async () => {
    const client = rig.client(PATIENT)
    for (let n = 0; n < 50; n++) await client.getLock(`it ${n}`).using(() => {})
    await isTold(client)
    expect(touches()).toBe(1)
    const ttlMs = await rig.server.admin.pttl(keyOf(client))
    expect(ttlMs).toBeGreaterThan(100_000)
    expect(ttlMs).toBeLessThanOrEqual(120_000)
  })

  test('the facts last for twice the length of a long lease as soon as the client has the lease', async () => {
    const client = rig.client()
    await client.getLock('it').using(() => {})
    await isTold(client)
    const lease = await client.getLock('it').lock({ leaseMs: 600_000, renew: true })
    await eventually(async () => (await rig.server.admin.pttl(keyOf(client))) > 1_100_000)
    await lease.release()
  })

  test('the facts are deleted when the client closes', async () => {
    const client = rig.client()
    await client.getLock('it').using(() => {})
    await isTold(client)
    await client.close()
    await eventually(async () => !(await rig.exists(keyOf(client))))
  })

  test('a client with `presence: false` sends no facts, and reads the facts of others', async () => {
    const [silent, other] = [rig.client({ presence: false }), rig.witness()]
    await other.getLock('it').using(() => {})
    await silent.getLock('it').using(() => {})
    const notes = await notesOf(silent)
    notes.set(`${silent.id}:1`, 'a note')
    expect(await silent.clientInfo(other.id)).toMatchObject({ client: other.id })
    await never(() => rig.exists(keyOf(silent)), 100)
    await silent.close()
    expect(rig.proxy.count(({ args }) => args.includes(keyOf(silent)))).toBe(0)
  })

  test('`clientInfo()` returns null for an unknown client and for a client of Redisson', async () => {
    const client = rig.client()
    expect(await client.clientInfo('nobody')).toBeNull()
    expect(await client.clientInfo('0a1b2c3d-0000-4000-8000-0123456789ab:71')).toBeNull()
    await rig.server.admin.hset('holdfast_client:{odd}', 'about', 'no JSON')
    expect(await client.clientInfo('odd')).toBeNull()
    await rig.server.admin.del('holdfast_client:{odd}')
    for (const bad of ['', ':1', 7, null, undefined]) {
      await expect(client.clientInfo(bad as string)).rejects.toThrow(/the id of a client, or/)
    }
  })

  test('`clientInfo()` rejects during an outage', async () => {
    const client = rig.client({ outageMs: 300, commandTimeoutMs: 100 })
    await warm(client)
    rig.proxy.blackHole()
    await expect(client.clientInfo(client.id)).rejects.toMatchObject({
      code: 'HOLDFAST_UNAVAILABLE',
      message: expect.stringMatching(/^Client "/),
    })
  })
})

describe('locks that do not depend on the facts', () => {
  test('a lock is acquired although the facts get no answer', async () => {
    const client = rig.client({ commandTimeoutMs: 3_000 })
    const trap = rig.proxy.onNextRequest(({ args }) => args[0] === touch.sha1, 'hold')
    const held = client.getLock('it').lock()
    await trap.seen
    const lease = await held
    // The facts did not delay the request, so the client did not have to repeat the request.
    expect(rig.proxy.count(SHA.acquire)).toBe(1)
    trap.release()
    await lease.release()
  })

  test('facts that are lost with the connection are sent by the next connection', async () => {
    const client = rig.client()
    const trap = rig.proxy.onNextRequest(({ args }) => args[0] === touch.sha1, 'cutBefore')
    const lease = await client.getLock('it').lock()
    await trap.done
    await lease.release()
    await isTold(client)
  })

  test('facts that the server has forgotten are sent again by the next connection', async () => {
    const client = rig.client()
    const lease = await client.getLock('it').lock()
    await isTold(client)
    await rig.server.admin.del(keyOf(client))
    rig.proxy.cut()
    await client.getLock('it').inspect()
    await isTold(client)
    await lease.release()
  })

  test('facts may arrive twice', async () => {
    const client = rig.client()
    const trap = rig.proxy.onNextRequest(({ args }) => args[0] === touch.sha1, 'duplicate')
    await client.getLock('it').using(() => {})
    await trap.done
    expect(await client.clientInfo(client.id)).toMatchObject({ client: client.id })
  })

  test('facts are sent although the server does not know the script', async () => {
    const client = rig.client()
    await rig.server.admin.script('FLUSH')
    await client.getLock('it').using(() => {})
    await isTold(client)
  })

  test('a user without the right to send facts is refused once, and acquires locks', async () => {
    const server = await startRedis()
    const rights = ['~it*', '~redisson_lock_token:{it*', '&*', '+@all']
    await server.admin.call('ACL', 'SETUSER', 'app', 'on', '>secret', ...rights)
    const login = { username: 'app', password: 'secret' }
    const errors: Error[] = []
    const client = new Holdfast({ redis: { host: server.host, port: server.port, ...login } })
    client.on('error', (error) => errors.push(error))
    atEnd(() => client.close(), { beforeCheck: true })
    for (let n = 0; n < 20; n++) await client.getLock(`it ${n}`).using(() => {})
    const refused = async () => (await server.admin.call('ACL', 'LOG')) as string[][]
    await eventually(async () => (await refused()).length === 1)
    const notes = await notesOf(client)
    notes.set(`${client.id}:1`, 'a note')
    await client.getLock('it').lock({ leaseMs: 600_000, renew: true })
    await pause(60)
    await client.close()
    const [entry = [], ...others] = await refused()
    expect([entry[entry.indexOf('count') + 1], others]).toEqual([1, []])
    expect(errors).toEqual([])
  })

  test('facts that a full server refused are sent again with later requests', async () => {
    const client = rig.client()
    await rig.server.admin.config('SET', 'maxmemory', '1')
    const failing = client.getLock('it').tryLock(2_000)
    await eventually(() => touches() > 0)
    await rig.server.admin.config('SET', 'maxmemory', '0')
    await (await failing)?.release()
    const isThere = async () => {
      await client.getLock('it').using(() => {})
      return (await rig.server.admin.exists(keyOf(client))) === 1
    }
    await eventually(isThere, { timeoutMs: 10_000, everyMs: 100 })
  })
})

describe('notes of owners', () => {
  test('other clients read the notes, and notes that change together are sent together', async () => {
    const [client, other] = [rig.client(PATIENT), rig.witness()]
    await client.getLock('it').using(() => {})
    await isTold(client)
    const [notes, others] = [await notesOf(client), await notesOf(other)]
    const owners = [1, 2, 3].map((n) => `${client.id}:${n}`)
    for (const owner of owners) notes.set(owner, `of ${owner}`)
    await eventually(async () => (await others.get(owners[2] as string)) !== undefined)
    for (const owner of owners) expect(await others.get(owner)).toBe(`of ${owner}`)
    expect(touches()).toBe(2)
    expect(await others.get(`${client.id}:4`)).toBeUndefined()
    expect(await notes.get(owners[0] as string)).toBe(`of ${owners[0]}`)
  })

  test('notes that are removed before they were sent are never sent', async () => {
    const client = rig.client(PATIENT)
    await client.getLock('it').using(() => {})
    await isTold(client)
    const notes = await notesOf(client)
    for (let n = 0; n < 10; n++) {
      notes.set(`${client.id}:${n}`, 'a note')
      notes.set(`${client.id}:${n}`, undefined)
    }
    await never(() => touches() > 1, 100)
    expect(await notes.get(`${client.id}:1`)).toBeUndefined()
  })

  test('notes that are lost with the connection are sent by the next connection', async () => {
    const [client, other] = [rig.client(), rig.witness()]
    const lease = await client.getLock('it').lock()
    await isTold(client)
    const [notes, others] = [await notesOf(client), await notesOf(other)]
    const trap = rig.proxy.onNextRequest(({ args }) => args[0] === touch.sha1, 'cutBefore')
    notes.set(lease.owner, 'a note')
    await trap.done
    await client.getLock('it').inspect()
    await eventually(async () => (await others.get(lease.owner)) === 'a note')
    await lease.release()
  })

  test('a removed note stays for about five seconds, for clients that waited, and is then deleted', async () => {
    const [client, other] = [rig.client(), rig.witness()]
    await client.getLock('it').using(() => {})
    const [notes, others] = [await notesOf(client), await notesOf(other)]
    const owner = `${client.id}:1`
    notes.set(owner, 'a note')
    await eventually(async () => (await others.get(owner)) !== undefined)
    await takes({ atLeast: 4_900 }, async () => {
      notes.set(owner, undefined)
      expect(await others.get(owner)).toBe('a note')
      await eventually(async () => (await others.get(owner)) === undefined)
    })
    expect(Object.keys(await rig.hash(keyOf(client))).sort()).toEqual(['about', 'at'])
  })

  test('the notes are limited in number, and the oldest notes are deleted first', async () => {
    const [client, other] = [rig.client(), rig.witness()]
    await client.getLock('it').using(() => {})
    const [notes, others] = [await notesOf(client), await notesOf(other)]
    for (let n = 0; n < 800; n++) notes.set(`${client.id}:${n}`, `${n}`)
    await eventually(async () => (await others.get(`${client.id}:799`)) === '799')
    for (let n = 800; n < 900; n++) notes.set(`${client.id}:${n}`, `${n}`)
    await eventually(async () => (await others.get(`${client.id}:899`)) === '899')
    expect(await rig.server.admin.hlen(keyOf(client))).toBe(502)
    expect(await others.get(`${client.id}:399`)).toBeUndefined()
    expect(await others.get(`${client.id}:400`)).toBe('400')
  })

  test('a read of a note gives nothing if the server does not answer', async () => {
    const [client, other] = [rig.client({ commandTimeoutMs: scaledMs(100) }), rig.witness()]
    const [notes, others] = [await notesOf(client), await notesOf(other)]
    const owner = `${other.id}:1`
    others.set(owner, 'a note')
    await eventually(async () => (await notes.get(owner)) === 'a note')
    rig.proxy.blackHole()
    expect(await notes.get(owner)).toBeUndefined()
  })
})

test('the facts of a client are in the slot of that client in a cluster', async () => {
  const cluster = await startCluster()
  const newClient = () => {
    const client = new Holdfast({ redis: { cluster: cluster.startNodes }, ...PATIENT })
    atEnd(() => client.close(), { beforeCheck: true })
    return client
  }
  const [client, other] = [newClient(), newClient()]
  const lease = await client.getLock('it').lock()
  const { admin } = await cluster.masterOf(keyOf(client))
  await eventually(async () => (await admin.exists(keyOf(client))) === 1)
  const [notes, others] = [await notesOf(client), await notesOf(other)]
  notes.set(lease.owner, 'a note')
  await eventually(async () => (await others.get(lease.owner)) === 'a note')
  expect(await other.clientInfo(lease.owner)).toMatchObject({ client: client.id })
  await lease.release()
  await client.close()
  await eventually(async () => (await admin.exists(keyOf(client))) === 0)
})

test('each master has the facts, and one master with the facts is enough', async () => {
  const cluster = await Cluster.start(3)
  const [client, other] = [cluster.client(PATIENT), cluster.client(PATIENT)]
  const lease = await client.getLock('it').lock()
  for (const { admin } of cluster.masters) {
    await eventually(async () => (await admin.exists(keyOf(client))) === 1)
  }
  const [notes, others] = [await notesOf(client), await notesOf(other)]
  notes.set(lease.owner, 'a note')
  await eventually(async () => (await others.get(lease.owner)) === 'a note')
  const [first, second] = cluster.masters
  await first?.kill()
  await second?.admin.del(keyOf(client))
  expect(await other.clientInfo(lease.owner)).toMatchObject({ client: client.id })
  expect(await others.get(lease.owner)).toBe('a note')
  expect(await other.clientInfo('nobody')).toBeNull()
  await lease.release()
})

test("the facts of a RedLock's client are deleted at all servers when that client closes", async () => {
  const cluster = await Cluster.start(3)
  const clients = cluster.masters.map(
    ({ url }) => new Holdfast({ redis: url, longestLeaseMs: 60_000 }),
  )
  atEnd(() => Promise.all(clients.map((one) => one.close())).then(() => {}), { beforeCheck: true })
  const [first, second] = clients as [Holdfast, Holdfast]
  await first.getRedLock(...clients.map((one) => one.getLock('it'))).using(() => {})
  const known = async () =>
    Promise.all(cluster.masters.map(({ admin }) => admin.exists(keyOf(first))))
  await eventually(async () => (await known()).join() === '1,1,1')
  await first.close()
  await eventually(async () => (await known()).join() === '0,0,0')
  // The other clients do not write data about this client.
  await second.getLock('other').lock({ leaseMs: 600_000, renew: true })
  await eventually(async () => (await second.clientInfo(second.id)) !== null)
  expect(await known()).toEqual([0, 0, 0])
})
