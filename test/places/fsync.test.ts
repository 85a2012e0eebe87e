import { type DurabilityOptions, Holdfast, NotDurableError } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { granted, outcome } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import { newServer } from '../support/places/valkey.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'

const ON_DISK = { appendonly: 'yes', appendfsync: 'always', 'repl-diskless-sync-delay': 0 }

let master: RedisServer
let replica: RedisServer

beforeAll(async () => {
  const program = newServer()
  const start = () => startRedis({ program, config: ON_DISK })
  ;[master, replica] = await Promise.all([start(), start()])
})

beforeEach(async () => {
  await Promise.all([master.revive(), replica.revive()])
  for (const { admin } of [master, replica]) {
    await admin.config('SET', 'appendfsync', 'always', 'appendonly', 'yes')
  }
  await replica.admin.replicaof(master.host, master.port)
  await eventually(async () => /state=online/.test(await master.admin.info('replication')))
  // A replica starts its log again after it has received the data.
  await eventually(async () => {
    await master.admin.set('kept up', '', 'PX', 1)
    return String(await master.admin.call('WAITAOF', 1, 1, 100)) === '1,1'
  })
})

function newClient(durability: DurabilityOptions): Holdfast {
  const client = new Holdfast({ redis: master.url, durability, commandTimeoutMs: 1_000 })
  atEnd(() => client.close(), { beforeCheck: true })
  return client
}

const calls = async (command: string) =>
  Number(
    new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(
      await master.admin.info('commandstats'),
    )?.[1] ?? 0,
  )

test.each([0, 1, 'all'] as const)(
  'an acquisition with %p replicas sends one WAITAOF, and no WAIT',
  async (replicas) => {
    const client = newClient({ replicas, fsync: true, timeoutMs: 5_000 })
    const before = [await calls('waitaof'), await calls('wait')]
    const lease = granted(await client.getLock('it').tryLock())
    expect([await calls('waitaof'), await calls('wait')]).toEqual([
      Number(before[0]) + 1,
      before[1],
    ])
    await lease.release()
  },
)

test('a master that was killed and restarted still has the lock', async () => {
  const client = newClient({ replicas: 0, fsync: true, timeoutMs: 5_000 })
  const lease = granted(await client.getLock('it').tryLock())
  master.kill()
  await master.restart()
  expect(await master.admin.hgetall('it')).toEqual({ [lease.owner]: '1' })
  await lease.release()
})

test('the error counts a replica that stands still as missing, and the master as confirmed', async () => {
  const client = newClient({ replicas: 1, fsync: true, timeoutMs: 400 })
  replica.pause()
  const { error } = await outcome(client.getLock('it').tryLock())
  expect(error).toBeInstanceOf(NotDurableError)
  expect(error).toMatchObject({ wanted: 1, confirmed: 0, fsynced: true })
  expect(String(error)).toContain('the master has it on disk')
  await eventually(async () => !(await master.admin.exists('it')))
})

test('the error reports a master that did not write to its disk in time, and the lock is released', async () => {
  await master.admin.config('SET', 'appendfsync', 'no')
  const client = newClient({ replicas: 0, fsync: true, timeoutMs: 300 })
  const { error } = await outcome(client.getLock('it').tryLock())
  expect(error).toMatchObject({ wanted: 0, fsynced: false })
  expect(String(error)).toContain('the master has it not yet on disk')
  await eventually(async () => !(await master.admin.exists('it')))
})

test('the error reports a master without a log of its writes', async () => {
  await master.admin.config('SET', 'appendonly', 'no')
  const client = newClient({ replicas: 0, fsync: true, timeoutMs: 300 })
  const { error } = await outcome(client.getLock('it').tryLock())
  expect(error).toMatchObject({ code: 'HOLDFAST_REFUSED' })
  expect(String(error)).toContain('appendonly is disabled')
  await eventually(async () => !(await master.admin.exists('it')))
})
