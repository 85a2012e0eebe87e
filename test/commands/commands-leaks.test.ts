import { setTimeout as pause } from 'node:timers/promises'
import type { LeakReport } from '../../tools/cli/locks/leak-text.ts'
import { findLeaks, type Leak } from '../../tools/inspection/find-leaks.ts'
import type { Inspection } from '../../tools/inspection/inspection.ts'
import { openInspection } from '../../tools/inspection/redis/redis-inspection.ts'
import { readWhere } from '../../tools/servers/where.ts'
import { holdfast } from '../doctor/diagnose.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { startRedis } from '../support/redis-server.ts'
import { newSetting } from './setting.ts'

const { server, newClient } = newSetting()

/** An owner whose client is unknown to every server. */
const gone = 'NxwZr5PVhg5sb0Me8yo04:17'

async function leaks(...args: string[]): Promise<{ code: number; all: LeakReport[]; err: string }> {
  const { code, out, err } = await holdfast(['leaks', server.url, '--json', ...args])
  const lines = out.split('\n').filter((line) => line !== '')
  return { code, err, all: lines.map((line) => JSON.parse(line)) }
}

test('leaks finds nothing among healthy locks of all kinds', async () => {
  const client = newClient({ leaseMs: 900 })
  const silent = newClient({ leaseMs: 900, presence: false })
  await client.getLock('a').lock()
  await silent.getLock('silent').lock()
  await client.getLock('fixed').lock({ leaseMs: 2_900 })
  await client.getReadWriteLock('rw').readLock().lock()
  await client.getPermitExpirableSemaphore('permits').trySetPermits(1)
  const permit = await client.getPermitExpirableSemaphore('permits').acquire()
  await client.getCountDownLatch('latch').trySetCount(1)
  await client.getSemaphore('plain').trySetPermits(1)
  await server.admin.hset('java', '8743c9c0-0795-4907-87fd-6c719a6b4586:31', '1')
  await server.admin.pexpire('java', 2_900)
  await eventually(async () => (await silent.clientInfo(client.id)) !== null)
  const { code, all, err } = await leaks('--lease-ms', '3000')
  expect([code, all]).toEqual([0, []])
  expect(err).toMatch(/Checking 1 lock again in \S+ m?s\.\n0 leaks at /)
  await permit.release()
})

test('leaks reports a key without an expiry, with a command that removes the leak', async () => {
  await server.admin.hset('app:lock', gone, '1')
  await server.admin.zadd('holdfast_queue:{b}', Date.now() * 1_000, gone)
  await server.admin.set('redisson_lock_token:{kept}', '1795326703508402')
  await server.admin.set('holdfast_birth', 'x')
  const { code, all } = await leaks('--lease-ms', '30')
  expect(code).toBe(1)
  expect(all).toMatchObject([
    {
      code: 'lock-without-ttl',
      name: 'app:lock',
      owner: gone,
      ttlMs: null,
      fix: [
        '# If its holder is certainly gone:',
        `npx holdfast release --force --url=${server.url} -- app:lock`,
      ],
    },
    {
      code: 'key-without-ttl',
      key: 'holdfast_queue:{b}',
      fix: [
        '# Make it expire in a minute:',
        `redis-cli -h 127.0.0.1 -p ${server.port} PEXPIRE 'holdfast_queue:{b}' 60000`,
      ],
    },
  ])
})

test('the command for a key names each master that has the key, and its database', async () => {
  const other = await startRedis()
  const fixOf = async (urls: string[]) => {
    const { out } = await holdfast(['leaks', ...urls, '--json', '--lease-ms', '30'])
    const all = out.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
    expect(all).toMatchObject([{ code: 'key-without-ttl', key: 'holdfast_queue:b' }])
    return (all[0] as LeakReport).fix.slice(1)
  }
  const command = (port: number, more = '') =>
    `redis-cli -h 127.0.0.1 -p ${port}${more} PEXPIRE holdfast_queue:b 60000`
  for (const { admin } of [server, other]) await admin.zadd('holdfast_queue:b', 1, gone)
  const urls = [server.url, other.url]
  expect(await fixOf(urls)).toEqual([command(server.port), command(other.port)])
  await server.admin.del('holdfast_queue:b')
  expect(await fixOf(urls)).toEqual([command(other.port)])
  await other.admin.swapdb(0, 2)
  expect(await fixOf([`${other.url}/2`])).toEqual([command(other.port, ' -n 2')])
  await other.flush()
})

test('a key with a NUL byte gets no command, because a shell would cut its name', async () => {
  await server.admin.zadd('holdfast_queue:{a\0b}', 1, gone)
  const { all } = await leaks('--lease-ms', '30')
  expect(all[0]?.fix).toEqual([
    '# Its name contains a NUL byte, which a shell cannot pass: make it expire from a program.',
  ])
})

test('a holder without a known process is a leak if its lease was not renewed', async () => {
  await server.admin.hset('app:dead', gone, '1')
  await server.admin.pexpire('app:dead', 3_000)
  await server.admin.hset('app:longer', gone, '1')
  await server.admin.pexpire('app:longer', 60_000)
  const { code, all, err } = await leaks('--lease-ms', '3000', '--key-prefix', 'app:')
  expect(code).toBe(1)
  expect(all).toMatchObject([{ code: 'holder-not-renewed', name: 'dead', owner: gone }])
  expect(all[0]?.ttlMs).toBeLessThan(1_500)
  expect(all[0]?.fix[1]).toBe(
    `npx holdfast release --force --key-prefix=app: --url=${server.url} -- dead`,
  )
  expect(err).toContain('1 holder with a longer lease than 3000 ms could not be checked')
})

test('a holder that is not renewed is a leak even when the first check is slow', async () => {
  await server.admin.hset('dead', gone, '1')
  await server.admin.pexpire('dead', 3_000)
  const inspection = openInspection(readWhere({}, [server.url], {}))
  atEnd(() => inspection.close(), { beforeCheck: true })
  let looks = 0
  const slow: Pick<Inspection, 'list' | 'listEndless' | 'inspect'> = {
    list: (wanted) => inspection.list(wanted),
    listEndless: () => inspection.listEndless(),
    inspect: async (key) => {
      if (looks++ === 0) await pause(300)
      return inspection.inspect(key)
    },
  }
  const found: Leak[] = []
  for await (const leak of findLeaks(slow as Inspection, { leaseMs: 3_000 })) found.push(leak)
  expect(found).toMatchObject([{ code: 'holder-not-renewed', key: 'dead', owner: gone }])
  expect(looks).toBe(2)
})

test('live waiters before a free lock are a leak, and a dead waiter is not', async () => {
  const now = Date.now()
  const alive = 'AxwZr5PVhg5sb0Me8yo04:18'
  for (const name of ['free', 'dead']) {
    await server.admin.zadd(`holdfast_queue:{${name}}`, now * 1_000, name === 'free' ? alive : gone)
    await server.admin.hset(
      `holdfast_waiting:{${name}}`,
      'AxwZr5PVhg5sb0Me8yo04',
      `${now + 9_900} 1 api`,
      'NxwZr5PVhg5sb0Me8yo04',
      `${now - 1_000} 1 api`,
    )
    await server.admin.pexpire(`holdfast_queue:{${name}}`, 60_000)
    await server.admin.pexpire(`holdfast_waiting:{${name}}`, 60_000)
  }
  const { code, all } = await leaks('--lease-ms', '30')
  expect(code).toBe(1)
  expect(all.map((one) => [one.code, one.name, one.owner])).toEqual([
    ['queue-of-free-lock', 'free', alive],
  ])
  expect(all[0]?.fix.at(-1)).toBe(`npx holdfast inspect --url=${server.url} -- free`)
})

test('leaks prints each leak with a reason and a fix, and no leak controls the terminal', async () => {
  await server.admin.hset('a\u001b[31m', gone, '1')
  const { code, out } = await holdfast(['leaks', server.url, '--lease-ms', '30'])
  expect(code).toBe(1)
  expect(out).toMatch(/^lock-without-ttl {2}a\\x1b\[31m\n {2}seen {2}Held by .*\n {2}why {3}/)
  expect(out).toMatch(/\n {2}fix {3}# If its holder is certainly gone:\n {8}npx holdfast release /)
  expect(out).not.toMatch(/[^\P{Cc}\n]/u)
})
