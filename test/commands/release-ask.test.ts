import { hostname } from 'node:os'
import type { ReleaseRequestedEvent } from '../../src/index.ts'
import { holdfast } from '../doctor/diagnose.ts'
import { eventually } from '../support/eventually.ts'
import { newSetting } from './setting.ts'

const { server, newClient } = newSetting()

const ask = (...args: readonly string[]) =>
  holdfast(['release', ...args, '--ask', '--url', server.url])

const hears = (id: string) =>
  eventually(async () => {
    const [, listeners] = await server.admin.pubsub('NUMSUB', `holdfast_requests:${id}`)
    return Number(listeners) === 1
  })

const isHeld = async (name: string) => (await server.admin.exists(name)) === 1

test('release --ask sends the reason to the holder, and reports that the holder confirmed the request', async () => {
  const client = newClient({ keyPrefix: 'app:', label: 'worker-A' })
  const events: ReleaseRequestedEvent[] = []
  client.on('releaseRequested', (event) => events.push(event))
  const lease = await client.getLock('a').lock()
  await hears(client.id)
  const args = ['a', '--key-prefix', 'app:', '--reason', 'version 7']
  const { code, out, err } = await ask(...args)
  expect([code, err]).toEqual([0, ''])
  expect(out).toBe(
    `worker-A (${process.pid} on ${hostname()}) was asked to release "app:a", and confirmed the request.\n` +
      'This command did not take the lock: each holder decides when to release it. To wait for the release, add --wait-ms <ms>.\n',
  )
  expect(events).toMatchObject([
    {
      name: 'a',
      owner: lease.owner,
      reason: 'version 7',
      by: { label: expect.stringMatching(new RegExp(`^\\S+@${hostname()} \\(npx holdfast\\)$`)) },
    },
  ])
  expect(await isHeld('app:a')).toBe(true)
  // The program leaves no key in Redis.
  expect(await server.admin.keys('holdfast_client:*')).toEqual([`holdfast_client:{${client.id}}`])
})

test('release --ask exits with 1 if the holder does not confirm the request', async () => {
  const lease = await newClient({ label: 'worker-A' }).getLock('a').lock()
  const { code, out } = await ask('a')
  expect(code).toBe(1)
  expect(out).toMatch(
    /^worker-A \(.*\) was asked to release "a", and did not confirm the request: /,
  )
  const json = await ask('a', '--json')
  expect(json.code).toBe(1)
  expect(JSON.parse(json.out)).toMatchObject({
    name: 'a',
    key: 'a',
    outcome: 'not-heard',
    holders: [{ owner: lease.owner, heard: false, process: { label: 'worker-A' } }],
  })
  expect(await isHeld('a')).toBe(true)
})

test('release --ask --wait-ms waits until the holder has released the lock, even if another client acquires it', async () => {
  const [client, other] = [newClient(), newClient()]
  const working = client.getFairLock('a').using(async ({ releaseRequested }) => {
    await eventually(() => releaseRequested.aborted)
  })
  await hears(client.id)
  const next = other.getFairLock('a').lock()
  await eventually(async () => (await client.getFairLock('a').inspect()).queueLength === 1)
  const { code, out } = await ask('a', '--wait-ms', '20000')
  expect(code).toBe(0)
  expect(out).toMatch(/confirmed the request\.\n"a" is no longer held by it\.\n$/)
  await working
  expect((await next).valid).toBe(true)
})

test('release --ask exits with 1 if the lock is still held at the end of --wait-ms', async () => {
  const client = newClient()
  client.on('releaseRequested', () => {})
  await client.getLock('a').lock()
  await hears(client.id)
  const { code, out } = await ask('a', '--wait-ms', '100')
  expect(code).toBe(1)
  expect(out).toMatch(/confirmed the request\.\n"a" is still held after 100 ms\.\n$/)
})

test('release --ask asks all readers, or the owner that --owner names', async () => {
  const [client, other] = [newClient(), newClient()]
  const heard: string[] = []
  for (const one of [client, other]) one.on('releaseRequested', ({ owner }) => heard.push(owner))
  const leases = [
    await client.getReadWriteLock('rw').readLock().lock(),
    await other.getReadWriteLock('rw').readLock().lock(),
  ]
  for (const { id } of [client, other]) await hears(id)
  const owners = leases.map(({ owner }) => owner)
  const all = await ask('rw', '--json')
  expect(all.code).toBe(0)
  expect(JSON.parse(all.out)).toMatchObject({ outcome: 'heard' })
  expect(heard.sort()).toEqual([...owners].sort())
  heard.length = 0
  const one = await ask('rw', `--owner=${owners[1]}`)
  expect(one.code).toBe(0)
  expect(heard).toEqual([owners[1]])
})

test('release --ask reports a free lock, and refuses a semaphore', async () => {
  const { code, out } = await ask('typo')
  expect(code).toBe(0)
  expect(out).toMatch(/^"typo" is free at .* check the name and its keyPrefix\.\n$/)
  const other = await ask('typo', '--owner', 'nobody:1')
  expect(other.out).toMatch(/^The owner nobody:1 does not hold "typo" at /)
  await newClient().getSemaphore('api').trySetPermits(1)
  const semaphore = await ask('api')
  expect(semaphore.code).toBe(2)
  expect(semaphore.err).toMatch(/^"api" is a semaphore/)
})

test.each([
  [['a', '--ask', '--force'], /^Give either --ask or --force; got both\./],
  [['a', '--ask', '--yes'], /^--yes and --token need --force; got --ask/],
  [['a', '--ask', '--token', '5'], /^--yes and --token need --force; got --ask/],
  [['a', '--ask', '--wait-ms', 'x'], /^--wait-ms must be a whole number .*; got "x"\./],
  [
    ['a', '--force', '--yes', '--reason', 'x'],
    /^--reason and --wait-ms need --ask, which takes nothing; got --force\./,
  ],
  [
    ['a', '--force', '--yes', '--wait-ms', '5'],
    /^--reason and --wait-ms need --ask, which takes nothing; got --force\./,
  ],
])('release refuses the options %j', async (args, message) => {
  await newClient().getLock('a').lock()
  const { code, out, err } = await holdfast(['release', ...args, '--url', server.url])
  expect([code, out]).toEqual([2, ''])
  expect(err).toMatch(message)
  expect(await isHeld('a')).toBe(true)
})

test('names and labels do not control the terminal in release --ask', async () => {
  await newClient({ label: 'a\u001b[2Jb' }).getLock('x\u001b[2J').lock()
  const { out, err } = await ask('x\u001b[2J')
  expect(out + err).not.toContain('\u001b')
  expect(out).toContain('"x\\x1b[2J"')
})

test('release --ask exits with 3 and an error if the server is unreachable', async () => {
  const away = await holdfast(['release', 'a', '--ask', '--url', '127.0.0.1:1'])
  expect([away.code, away.out]).toEqual([3, ''])
  expect(away.err).toMatch(/^127\.0\.0\.1:1 cannot be asked: /)
})
