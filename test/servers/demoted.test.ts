import { Holdfast, type HoldfastError } from '../../src/index.ts'
import { type Address, startAddress } from '../support/address.ts'
import { eventually } from '../support/eventually.ts'
import { granted, outcome } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'

/** A server that was the master, and the server that took over. */
let [old, next]: RedisServer[] = []
let address: Address

const servers = () => [old, next] as [RedisServer, RedisServer]

beforeEach(async () => {
  const config = { 'repl-diskless-sync': 'yes', 'repl-diskless-sync-delay': 0 }
  const pair = await Promise.all([startRedis({ config }), startRedis({ config })])
  ;[old, next] = pair
  await follow(pair[1], pair[0])
  address = await startAddress(pair[0])
})

/** Makes a server a replica, and waits until it has all data of the master. */
async function follow(replica: RedisServer, master: RedisServer): Promise<void> {
  await replica.admin.replicaof(master.host, master.port)
  await eventually(async () => Number(await master.admin.wait(1, 100)) === 1)
}

/** The replica takes over, and the address leads to it. Connections to the old master stay open. */
async function switchOver(): Promise<void> {
  const [from, to] = servers()
  await from.admin.ping() // WAIT covers only writes before the previous command of this connection.
  await from.admin.wait(1, 5_000)
  await to.admin.replicaof('NO', 'ONE')
  address.switchTo(to)
  await follow(from, to)
}

function newClient(
  options: { outageMs?: number; port?: number; commandTimeoutMs?: number } = {},
): Holdfast {
  const { port = address.port, outageMs = 5_000, commandTimeoutMs = 500 } = options
  const client = new Holdfast({ redis: { port }, outageMs, commandTimeoutMs })
  atEnd(() => client.close(), { beforeCheck: true })
  return client
}

async function connected(client: Holdfast): Promise<Holdfast> {
  await granted(await client.getLock('warm').tryLock()).release()
  return client
}

describe.each(['getLock', 'getFairLock'] as const)(
  '%s after the server behind the address was demoted',
  (kind) => {
    test('the same call acquires the lock from the server that took over', async () => {
      const client = await connected(newClient())
      await switchOver()
      const lease = await client[kind]('it').lock()
      expect(await next?.admin.hgetall('it')).toEqual({ [lease.owner]: '1' })
      expect(await lease.release()).toBe(true)
      expect(await next?.admin.exists('it')).toBe(0)
    })

    test('the lock is released at the server that took over', async () => {
      const lock = (await connected(newClient()))[kind]('it')
      const lease = await lock.lock()
      await switchOver()
      expect(await next?.admin.exists('it')).toBe(1)
      expect(await lease.release()).toBe(true)
      expect(await next?.admin.exists('it')).toBe(0)
    })

    test('the owner gets a new token although the server that took over missed its release', async () => {
      const [from, to] = servers()
      const client = await connected(newClient())
      const lock = client[kind]('it')
      await client.run(async () => {
        const first = await lock.lock(30_000)
        await from.admin.ping()
        await from.admin.wait(1, 5_000)
        await to.admin.replicaof('NO', 'ONE') // From now on it receives no data.
        await first.release()
        const other = await newClient()
          [kind]('it')
          .using((lease) => lease.token)
        expect(other).toBeGreaterThan(first.token)
        address.switchTo(to)
        await follow(from, to)
        expect(await to.admin.hgetall('it')).toEqual({ [first.owner]: '1' })
        await to.admin.pexpire('it', 1_000) // As if its lease were almost over.
        const next = await lock.lock()
        expect(next.token).toBeGreaterThan(other)
        await next.release()
      })
    })

    test('messages of the server that took over wake waiters', async () => {
      const client = await connected(newClient())
      const held = await newClient()[kind]('it').lock()
      const waiting = client[kind]('it').tryLock(20_000)
      const listened = async (server: RedisServer | undefined) =>
        String(await server?.admin.pubsub('CHANNELS')) !== ''
      await eventually(() => listened(old))
      await switchOver()
      await client[kind]('another').using(() => undefined)
      await eventually(() => listened(next))
      expect(await held.release()).toBe(true)
      await granted(await waiting).release()
    })
  },
)

test('many calls leave a demoted server together by one new connection, and none is lost', async () => {
  // After `commandTimeoutMs`, a call tries another connection, even if the server is only slow.
  const client = await connected(newClient({ outageMs: 10_000, commandTimeoutMs: 5_000 }))
  await switchOver()
  const before = address.connections
  const leases = await Promise.all(
    Array.from({ length: 200 }, (_, i) => client.getLock(`it ${i}`).lock()),
  )
  expect(address.connections - before).toBe(1)
  expect(await next?.admin.exists(...leases.map(({ name }) => name))).toBe(200)
  await Promise.all(leases.map((lease) => lease.release()))
})

test('the address is tried again if no server has taken over, but only at intervals', async () => {
  const [server] = servers()
  const client = await connected(newClient({ outageMs: 2_000 }))
  await server.admin.replicaof('127.0.0.1', next?.port as number)
  const before = address.connections
  const ends = await Promise.all(
    Array.from({ length: 50 }, (_, i) => outcome(client.getLock(`it ${i}`).lock())),
  )
  // A call that is waiting for an answer when the server refuses another call may get no answer.
  const codes = ends.map(({ error }) => (error as HoldfastError).code)
  expect(codes).toContain('HOLDFAST_REFUSED')
  expect(['HOLDFAST_REFUSED', 'HOLDFAST_UNAVAILABLE']).toEqual(expect.arrayContaining(codes))
  expect(ends.map(({ error }) => String(error)).join()).toMatch(/READONLY/)
  const made = address.connections - before
  expect(made).toBeGreaterThan(2)
  // The attempts are at least 25 ms, 50 ms, 100 ms and then 125 ms apart.
  expect(made).toBeLessThan(25)
  await server.admin.replicaof('NO', 'ONE')
  await granted(await client.getLock('it').tryLock()).release()
})
