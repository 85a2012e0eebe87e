import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast, type HoldfastOptions } from '../../src/index.ts'
import { bulk, startFakeServer } from '../support/fake-server.ts'
import { Diary, faultRig, granted, outcome } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import { refusal } from '../support/refusal.ts'

const rig = faultRig()

/** All commands except SELECT, on every key. */
const NO_SELECT = ['~*', '&*', '+@all', '-select']

function newClient(redis: HoldfastOptions['redis'], outageMs = 5_000): Holdfast {
  const client = new Holdfast({ redis, commandTimeoutMs: 300, outageMs } as HoldfastOptions)
  atEnd(() => client.close(), { beforeCheck: true })
  return client
}

async function setRights(...rights: string[]): Promise<void> {
  await rig.server.admin.call('ACL', 'SETUSER', 'app', 'reset', 'on', '>pw', ...rights)
}

/** Returns the number of keys in each database, as the server reports it. */
async function keyspace(): Promise<string> {
  return String(await rig.server.admin.info('keyspace')).replace(/# Keyspace|\s/g, '')
}

describe('a database that the user may not select', () => {
  const login = (db: number) => ({
    host: rig.server.host,
    port: rig.server.port,
    username: 'app',
    password: 'pw',
    db,
  })

  test('the client never uses database 0 instead, and the error names the missing right', async () => {
    await setRights(...NO_SELECT)
    const client = newClient(login(3))
    const diary = new Diary(client)
    const error = await refusal(() => client.getLock('it').lock())
    await outcome(client.getLock('it').lock())
    expect(await keyspace()).toBe('')
    expect(error).toMatchObject({ code: 'HOLDFAST_REFUSED', lockName: 'it' })
    expect(String(error)).toMatch(/NOPERM.*database 3.*SELECT/)
    expect(String(diary.errors)).toMatch(/NOPERM.*database 3.*SELECT/)
  })

  test('the client uses the database as soon as the user may select it', async () => {
    await setRights(...NO_SELECT)
    const client = newClient(login(3), 15_000)
    const wait = client.getLock('it').lock()
    const refused = new Promise((resolve) => client.once('error', resolve))
    await refused
    await setRights('~*', '&*', '+@all')
    const lease = await wait
    expect(await keyspace()).toMatch(/^db3:/)
    await lease.release()
  })

  test('the missing right does not matter for database 0', async () => {
    await setRights(...NO_SELECT)
    await newClient(login(0))
      .getLock('it')
      .using(async () => {
        expect(await keyspace()).toMatch(/^db0:/)
      })
  })
})

test('a server that is too busy to select the database is asked again, and receives no other request before', async () => {
  let selected = false
  let refusals = 0
  const strays: string[] = []
  const { host, port } = await startFakeServer(([word = '', number]) => {
    const command = word.toUpperCase()
    if (command === 'SELECT') {
      expect(number).toBe('3')
      selected = refusals >= 5
      refusals += 1
      return selected ? '+OK\r\n' : '-BUSY Redis is busy running a script.\r\n'
    }
    if (command === 'INFO') return bulk('redis_version:7.0.0\r\nrun_id:x\r\n')
    if (command === 'HELLO') return '-NOPROTO sorry\r\n'
    if (command === 'TIME') return `*2\r\n${bulk('1')}${bulk('1')}`
    if (command !== 'EVALSHA') return '+OK\r\n'
    if (!selected) strays.push(command)
    return `*2\r\n${bulk('granted')}${bulk('17')}`
  })
  const client = newClient({ host, port, db: 3 }, 10_000)
  const lease = await client.getLock('it').lock()
  expect(lease.token).toBe(17)
  expect(strays).toEqual([])
  await client.close()
})

test('a client that reconnects to a busy server continues in its own database', async () => {
  await rig.server.admin.config('SET', 'lua-time-limit', '1')
  const { host, port } = rig.proxy
  const client = newClient({ host, port, db: 3 }, 10_000)
  await granted(await client.getLock('warm').tryLock()).release()
  for (let i = 0; i < 20; i += 1) {
    const busy = rig.server.admin.eval(
      `local function now() local t = redis.call('TIME') return t[1] * 1000 + t[2] / 1000 end
      local untilMs = now() + ARGV[1]
      while now() < untilMs do end`,
      0,
      20 + 5 * i,
    )
    rig.proxy.cut()
    await pause(5)
    const lease = await client.getLock(`it ${i}`).lock()
    await busy
    expect(await rig.server.admin.exists(`it ${i}`)).toBe(0)
    await lease.release()
  }
  expect(await keyspace()).not.toMatch(/db0/)
})
