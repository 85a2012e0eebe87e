import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Holdfast } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { leaves } from '../support/leaks.ts'
import { sharedServer, startRedis } from '../support/redis-server.ts'
import { diagnose, holdfast, STEADY, seen, steady } from './diagnose.ts'

const server = sharedServer()

async function withConfig<T>(settings: Record<string, string>, work: () => Promise<T>): Promise<T> {
  const before: [string, string][] = []
  for (const [name, value] of Object.entries(settings)) {
    const [, was = ''] = (await server.admin.config('GET', name)) as string[]
    before.push([name, was])
    await server.admin.config('SET', name, value)
  }
  try {
    return await work()
  } finally {
    for (const [name, value] of before) await server.admin.config('SET', name, value)
  }
}

const look = (settings: Record<string, string>, ...args: string[]) =>
  withConfig(settings, () => diagnose([server.url, ...STEADY, ...args]))

test('the only finding of a default server is the missing persistence', async () => {
  const report = await diagnose([server.url])
  expect(steady(report)).toEqual(['no-persistence'])
  expect(report).toMatchObject({ verdict: 'findings', exitCode: 1, place: 'server' })
  const [line] = report.servers
  expect(line).toMatchObject({
    address: `127.0.0.1:${server.port}`,
    reached: true,
    version: process.env.HOLDFAST_REDIS_VERSION,
    role: 'master',
    replicas: 0,
    keysLooked: 0,
    allKeys: true,
  })
  expect(line?.medianMs).toBeGreaterThan(0)
  expect(Math.abs(line?.clockAheadMs ?? Infinity)).toBeLessThan(500)
  expect(await server.admin.keys('*')).toEqual([])
})

test('a server that persists each write before it answers has no findings', async () => {
  const report = await look({ appendonly: 'yes', appendfsync: 'always' })
  expect(steady(report)).toEqual([])
  expect(report).toMatchObject({ verdict: 'ok', exitCode: 0 })
})

test('the doctor reports how the server writes to the disk', async () => {
  const everysec = await look({ appendonly: 'yes', appendfsync: 'everysec' })
  expect(seen(everysec, 'fsync-everysec')).toMatchObject([{ level: 'note' }])
  expect(everysec.exitCode).toBe(0)
  const never = await look({ appendonly: 'yes', appendfsync: 'no' })
  expect(seen(never, 'fsync-never')).toMatchObject([{ level: 'warning' }])
  expect(never.exitCode).toBe(1)
  const settings = { appendonly: 'yes', appendfsync: 'always', 'no-appendfsync-on-rewrite': 'yes' }
  expect((await look(settings)).codes).toContain('fsync-pauses')
})

test.each(['volatile-lru', 'allkeys-random', 'volatile-ttl'])(
  'a policy that evicts locks is reported: %s',
  async (policy) => {
    const limited = await look({ maxmemory: '200mb', 'maxmemory-policy': policy })
    const [finding] = seen(limited, 'evicts-locks')
    expect(finding).toMatchObject({
      level: 'error',
      at: `127.0.0.1:${server.port}`,
      numbers: { policy, limitBytes: 200 * 1024 * 1024, evicted: 0 },
    })
    expect(finding?.seen).toContain(`maxmemory-policy is ${policy}, with a maxmemory of 200 MiB`)
    expect(finding?.fix[0]).toBe(
      `redis-cli -h 127.0.0.1 -p ${server.port} CONFIG SET maxmemory-policy noeviction`,
    )
    const unlimited = await look({ maxmemory: '0', 'maxmemory-policy': policy })
    expect(unlimited.codes).not.toContain('evicts-locks')
    expect(seen(unlimited, 'would-evict-locks')).toMatchObject([{ level: 'note' }])
  },
)

test('memory that is full or nearly full is reported', async () => {
  const { used_memory = '' } = Object.fromEntries(
    (await server.admin.info('memory')).split('\r\n').map((line) => line.split(':')),
  )
  const used = Number(used_memory)
  const nearly = await look({ maxmemory: `${Math.round(used / 0.88)}` })
  expect(nearly.codes).toContain('memory-nearly-full')
  const full = await look({ maxmemory: `${Math.round(used * 0.9)}` })
  expect(seen(full, 'memory-full')).toMatchObject([{ level: 'error' }])
  const roomy = await look({ maxmemory: `${used * 10}` })
  expect(roomy.codes.filter((code) => code.startsWith('memory'))).toEqual([])
})

test('an idle timeout and settings with a cost are reported', async () => {
  const report = await look(
    {
      timeout: '3',
      'client-output-buffer-limit': 'pubsub 1024 1024 60',
      'notify-keyspace-events': 'KEA',
    },
    '--lease-ms',
    '9000',
  )
  expect(seen(report, 'idle-timeout')).toMatchObject([
    { level: 'warning', numbers: { timeoutSeconds: 3, renewMs: 3_000 } },
  ])
  expect(report.codes).toEqual(expect.arrayContaining(['pubsub-buffer', 'keyspace-events']))
  // The watchdog renews before this timeout.
  expect((await look({ timeout: '4' }, '--lease-ms', '9000')).codes).not.toContain('idle-timeout')
})

test('a requirement of replicas that the server does not meet is reported', async () => {
  const report = await look({ 'min-replicas-to-write': '2' })
  expect(seen(report, 'min-replicas-unmet')).toMatchObject([
    { level: 'error', numbers: { minReplicasToWrite: 2, good: 0 } },
  ])
  const durable = await diagnose([server.url, '--durability', 'all'])
  expect(seen(durable, 'too-few-replicas')).toMatchObject([{ numbers: { wanted: 1, online: 0 } }])
})

describe('keys without a TTL', () => {
  const owner = `${'a'.repeat(21)}:17`

  test('a lock, a key of a lock and a counter without a TTL are separate findings', async () => {
    leaves({ keys: true, why: 'they have no TTL' })
    const { admin } = server
    await admin.hset('app:stuck', owner, 1)
    await admin.hset('app:java', '0f8fad5b-d9cb-469f-a165-70867728950e:1', 1)
    await admin.hset('app:hash', 'name', 'Ada')
    await admin.hset('app:held', owner, 1)
    await admin.pexpire('app:held', 60_000)
    await admin.set('redisson_lock_token:{app:stuck}', 1)
    await admin.zadd('holdfast_queue:{app:stuck}', 1, owner)
    await admin.set('app:latch', 3)
    await admin.set('holdfast_birth', 'mark')
    const report = await diagnose([server.url])
    const [lock] = seen(report, 'lock-without-ttl')
    expect(lock).toMatchObject({ level: 'warning', numbers: { locks: 2 } })
    expect(lock?.seen).toMatch(/app:stuck/)
    expect(lock?.fix.join('\n')).toContain('DEL app:stuck')
    expect(seen(report, 'key-without-ttl')).toMatchObject([{ numbers: { keys: 1 } }])
    expect(seen(report, 'counter-without-ttl')).toMatchObject([{ level: 'note' }])
    expect(report.servers[0]).toMatchObject({ keysLooked: 8, allKeys: true })
    const elsewhere = await diagnose([server.url, '--key-prefix', 'other:'])
    expect(elsewhere.codes).not.toContain('lock-without-ttl')
    const none = await diagnose([server.url, '--scan-keys', '0'])
    expect(none.codes.filter((code) => /ttl|part/.test(code))).toEqual([])
    expect(none.servers[0]?.keysLooked).toBeNull()
  })

  test('a name with control characters does not control the terminal, and its command keeps the name whole', async () => {
    leaves({ keys: true, why: 'they have no TTL' })
    const { admin } = server
    await admin.hset('app:\u001b[31mred\nline', owner, 1)
    await admin.zadd('holdfast_queue:{\u202eapp}', 1, owner)
    await admin.set('redisson_lock_token:{\u001b[2Japp}', 1)
    const { out } = await holdfast(['doctor', server.url])
    expect(out).not.toMatch(/[\p{Cf}\p{Zl}\p{Zp}]|[^\P{Cc}\n]/u)
    expect(out).toContain('held, without a TTL: app:\\x1b[31mred\\nline.')
    const report = await diagnose([server.url])
    const command = seen(report, 'lock-without-ttl')[0]?.fix[1] ?? ''
    const word = command.slice(command.indexOf('DEL ') + 'DEL '.length)
    const passed = execFileSync('bash', ['-c', `printf %s ${word}`], { encoding: 'utf8' })
    expect(passed).toBe('app:\u001b[31mred\nline')
  })

  test('a lock with a NUL byte in its name gets no command, because a shell would cut the name', async () => {
    leaves({ keys: true, why: 'it has no TTL' })
    await server.admin.hset('app:a\0b', owner, 1)
    const report = await diagnose([server.url])
    expect(seen(report, 'lock-without-ttl')).toMatchObject([
      {
        fix: [
          '# If its holder is certainly gone:',
          '# DEL from a program: a shell cannot pass a name with a NUL byte.',
        ],
      },
    ])
  })

  test('the keys of working locks are not reported', async () => {
    const client = new Holdfast({ redis: server.url })
    const lock = client.getFairLock('busy')
    const lease = await lock.lock()
    const semaphore = client.getPermitExpirableSemaphore('permits')
    await semaphore.trySetPermits(2)
    const permit = await semaphore.acquire()
    const waiting = client.getFairLock('busy').using(() => undefined)
    await eventually(async () => (await lock.inspect()).queue.length > 0)
    const report = await diagnose([server.url])
    expect(report.codes.filter((code) => /ttl/.test(code))).toEqual([])
    await lease.release()
    await waiting
    await permit.release()
    await client.close()
    await server.flush()
  })

  test('the report says how many keys were checked', async () => {
    leaves({ keys: true, why: 'they are many' })
    const filler = server.admin.pipeline()
    for (let i = 0; i < 2_000; i++) filler.set(`filler:${i}`, 1)
    await filler.exec()
    const report = await diagnose([server.url, '--scan-keys', '500'])
    expect(report.servers[0]?.allKeys).toBe(false)
    expect(report.servers[0]?.keysLooked).toBeLessThan(1_000)
    expect(seen(report, 'looked-in-part')[0]?.seen).toMatch(/^Checked \d+ keys, and there/)
  })
})

test('a disk that fails is reported', async () => {
  const dir = mkdtempSync(join(process.env.HOLDFAST_TEST_DIR ?? tmpdir(), 'disk-'))
  const broken = await startRedis({ config: { dir } })
  expect((await diagnose([broken.url])).codes).not.toContain('disk-fails')
  mkdirSync(join(dir, 'dump.rdb')) // no file can replace a folder
  await broken.admin.bgsave()
  await eventually(async () =>
    /last_bgsave_status:err/.test(await broken.admin.info('persistence')),
  )
  expect(seen(await diagnose([broken.url]), 'disk-fails')).toMatchObject([{ level: 'error' }])
})

test.each([
  ['several-wire-versions', 'note', 1],
  ['wire-versions-conflict', 'warning', 2],
])(
  'clients with several versions of the wire format are reported: %s',
  async (code, level, oldest) => {
    const { admin } = server
    const client = new Holdfast({ redis: server.url })
    await client.getLock('it').using(() => {})
    const key = `holdfast_client:{${'a'.repeat(21)}}`
    await eventually(async () => (await admin.exists(`holdfast_client:{${client.id}}`)) === 1)
    expect(seen(await diagnose([server.url]), code)).toEqual([])
    await admin.hset(key, 'about', JSON.stringify({ wire: { version: 2, oldest } }))
    await admin.pexpire(key, 20_000)
    expect(seen(await diagnose([server.url]), code)).toMatchObject([
      { level, seen: expect.stringContaining('1, 2') },
    ])
    await admin.del(key)
    await client.close()
  },
)
