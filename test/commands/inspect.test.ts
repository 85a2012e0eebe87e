import { setTimeout as pause } from 'node:timers/promises'
import { whereWords } from '../../tools/cli/servers/where-words.ts'
import { wrapped } from '../../tools/cli/text/words.ts'
import { holdfast } from '../doctor/diagnose.ts'
import { eventually } from '../support/eventually.ts'
import type { Inspected } from '../support/printed.ts'
import { startProxy } from '../support/proxy.ts'
import { newSetting } from './setting.ts'

const { server, newClient } = newSetting()

async function inspected(name: string, ...args: string[]): Promise<Inspected> {
  const { code, out, err } = await holdfast(['inspect', name, server.url, '--json', ...args])
  if (code !== 0) throw new Error(err)
  return JSON.parse(out)
}

const once = ['--look-ms', '0']

test('inspect shows the holder of a lock, its process, the waiters and the command that frees the lock', async () => {
  const client = newClient({ label: 'api-7', keyPrefix: 'app:' })
  const other = newClient({ label: 'api-8', keyPrefix: 'app:' })
  const lease = await client.getFairLock('a').lock()
  other
    .getFairLock('a')
    .lock()
    .catch(() => {})
  await eventually(async () => (await client.getFairLock('a').inspect()).queueLength === 1)
  await eventually(async () => (await client.clientInfo(other.id)) !== null)
  const lock = await inspected('a', '--key-prefix', 'app:', ...once)
  expect(lock).toMatchObject({
    name: 'a',
    key: 'app:a',
    state: 'held',
    token: lease.token,
    waiting: 1,
    holders: [{ owner: lease.owner, process: { label: 'api-7', pid: process.pid }, holdCount: 1 }],
    queue: [{ process: { label: 'api-8', pid: process.pid }, isDead: false }],
  })
  const { command, waitMs } = lock.toFree
  expect(command).toBe(
    `npx holdfast release --force --token ${lease.token} --key-prefix=app: --url=${server.url} -- a`,
  )
  expect(waitMs).toBeGreaterThan(20_000)
  const { out } = await holdfast(['inspect', 'a', server.url, '--key-prefix', 'app:', ...once])
  expect(out).toMatch(/^a at 127\.0\.0\.1:\d+\n\n {2}key +app:a\n/)
  expect(out).toMatch(
    new RegExp(`api-7 +\\S+ +${process.pid} +1 .* not seen +\\d+ m?s ago +${lease.owner}`),
  )
  expect(out).toMatch(/Waiting\n.*WAITER.*\n +api-8 +the lock /)
  expect(out).toContain(`process ${process.pid} on `)
  expect(out).toContain(`\n  ${command}\n`)
})

test('inspect reports a lease as renewed, as not renewed, or as unknown', async () => {
  const client = newClient()
  await client.getLock('watched').lock({ leaseMs: 1_500 })
  const renewed = newClient({ leaseMs: 900 })
  await renewed.getLock('renewed').lock()
  expect((await inspected('renewed')).holders[0]?.renewal).toBe('renewed')
  expect((await inspected('renewed')).toFree.waitMs).toBeNull()
  expect((await inspected('watched', '--look-ms', '500')).holders[0]?.renewal).toBe('not-renewed')
  expect((await inspected('renewed', ...once)).holders[0]?.renewal).toBe('unknown')
})

test('slow answers do not make inspect report a lease as renewed', async () => {
  await newClient().getLock('slow').lock({ leaseMs: 60_000 })
  const proxy = await startProxy(server.port)
  const calls = async () =>
    Number((await server.admin.info('commandstats')).match(/hgetall:calls=(\d+)/)?.[1] ?? 0)
  const before = await calls()
  const looking = holdfast(['inspect', 'slow', proxy.url, '--json', '--look-ms', '600'])
  await eventually(async () => (await calls()) > before)
  await pause(120) // The first check has a few more short requests. The second check comes later.
  proxy.delay(200, { direction: 'toClient' })
  const { holders } = JSON.parse((await looking).out) as Inspected
  expect(holders[0]?.renewal).toBe('not-renewed')
})

test('inspect does not report a renewal if the owner released the lock in between', async () => {
  const owner = 'NxwZr5PVhg5sb0Me8yo04:17'
  await server.admin.hset('again', owner, '1')
  await server.admin.pexpire('again', 5_000)
  await server.admin.set('redisson_lock_token:{again}', '1795326703508402', 'PX', 60_000)
  const looking = inspected('again', '--look-ms', '600')
  const before = Number((await server.admin.info('commandstats')).match(/hgetall:calls=(\d+)/)?.[1])
  await eventually(async () => {
    const info = await server.admin.info('commandstats')
    return Number(info.match(/hgetall:calls=(\d+)/)?.[1] ?? 0) > (before || 0)
  })
  await server.admin.multi().pexpire('again', 30_000).incr('redisson_lock_token:{again}').exec()
  expect((await looking).holders[0]?.renewal).toBe('unknown')
})

test('inspect explains for each kind what frees it', async () => {
  const client = newClient()
  const reader = newClient()
  await client.getReadWriteLock('rw').readLock().lock()
  await reader.getReadWriteLock('rw').readLock().lock()
  await client.getCountDownLatch('latch').trySetCount(2)
  await client.getPermitExpirableSemaphore('permits').trySetPermits(1)
  const permit = await client.getPermitExpirableSemaphore('permits').acquire()
  await (await client.getLock('free').lock()).release()
  await server.admin.hset('endless', 'NxwZr5PVhg5sb0Me8yo04:17', '1')
  await server.admin.hset('java', '8743c9c0-0795-4907-87fd-6c719a6b4586:31', '1')
  await server.admin.pexpire('java', 30_000)
  const words = async (name: string) => (await inspected(name, ...once)).toFree
  const rw = await words('rw')
  expect(rw.sentences).toHaveLength(2)
  expect(rw.command).toMatch(/ release --force --owner=[\w-]{21}:\d+ --url=\S+ -- rw$/)
  const latch = await words('latch')
  expect(latch).toMatchObject({ command: null, waitMs: null })
  expect(latch.sentences[0]).toContain('after 2 more countDown() calls')
  expect((await words('permits')).command).toContain(`--force --owner=${permit.owner} --url`)
  expect(await words('free')).toMatchObject({
    sentences: ['Nothing: it is free.'],
    waitMs: 0,
    command: null,
  })
  const endless = await words('endless')
  expect(endless.waitMs).toBeNull()
  expect(endless.sentences[0]).toContain('never ends')
  expect(endless.command).toBe(`npx holdfast release --force --url=${server.url} -- endless`)
  for (const command of [
    ['inspect', 'endless', ...once],
    ['list', '--held'],
  ]) {
    expect((await holdfast([...command, server.url])).out).toMatch(
      /NxwZr5PVhg5sb0Me8yo04:17 .* no expiry /,
    )
  }
  expect((await words('java')).sentences[0]).toMatch(/of Redisson: its lease ends in (29|30) s/)
  expect((await words('permits')).sentences[0]).toMatch(
    /^\S+ was last seen .* ago: let it finish if process \d+ on .* Then wait at most (29|30) s,/,
  )
  const state = async (name: string) =>
    (await holdfast(['inspect', name, server.url, ...once])).out.match(/state +(.*)/)?.[1]
  expect(await state('latch')).toBe('closed, 2 to go')
  expect(await state('permits')).toBe('1 of 1 taken')
  await permit.release()
})

test('inspect of an unknown name exits with 1 and lists similar names', async () => {
  const client = newClient({ keyPrefix: 'app:' })
  await (await client.getLock('order:1').lock()).release()
  const { code, out, err } = await holdfast(['inspect', 'order:1', server.url])
  expect([code, out]).toEqual([1, ''])
  expect(err).toMatch(/^There is no lock named order:1 at 127\S+\.\nThere is: app:order:1\n$/)
  expect((await holdfast(['inspect', '--json', server.url])).err).toContain(
    'inspect needs the name of a lock before the URL',
  )
})

test('the printed command has the server and the user but no password, and a shell reads its name unchanged', async () => {
  const client = newClient()
  const name = "it's\n$(x)"
  await client.getLock(name).lock()
  const url = server.url.replace('redis://', 'redis://default:secret@')
  const { out } = await holdfast(['inspect', name, url, '--json', ...once])
  const { command } = (JSON.parse(out) as Inspected).toFree
  expect(command).not.toContain('secret')
  const { execFileSync } = await import('node:child_process')
  const words = execFileSync('bash', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' })
  expect(words.split('\0').at(-2)).toBe(name)
  expect(words.split('\0')).toContain(`--url=${server.url.replace('redis://', 'redis://default@')}`)
})

test.each([
  ['a server', {}, ['redis://:secret@a:1/2?password=secret'], '--url=redis://a:1/2'],
  ['a server without a scheme', {}, ['ann:secret@a:1'], '--url=redis://ann@a:1'],
  ['a socket', {}, ['/run/a@b.sock'], '--url=/run/a@b.sock'],
  ['masters', { url: ['a:1'] }, ['redis://ann:secret@b:2'], '--url=a:1 --url=redis://ann@b:2'],
  [
    'Sentinels',
    { sentinel: ['redis://ann:secret@a:1, b:2'] },
    [],
    '--sentinel=redis://ann@a:1,b:2',
  ],
])('the options to paste for %s have no password', (_, values, urls, words) => {
  expect(whereWords(values, urls)).toBe(words)
})

test('a label cannot control the terminal', async () => {
  const client = newClient({ label: 'l\u001b[31m' })
  await client.getLock('a').lock()
  await eventually(async () => (await client.clientInfo(client.id)) !== null)
  const { out } = await holdfast(['inspect', 'a', server.url, ...once])
  expect(out).toContain('l\\x1b[31m was last seen')
  expect(out).not.toMatch(/[^\P{Cc}\n]/u)
})

test('lines do not break between a number and its unit', () => {
  expect(wrapped('wait 13 s, then look', 7)).toEqual(['wait', '13 s,', 'then', 'look'])
  expect(wrapped('in 2 h 10 min', 9)).toEqual(['in 2 h', '10 min'])
})
