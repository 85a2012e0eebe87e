import { hostname } from 'node:os'
import { Holdfast } from '../../src/index.ts'
import { holdfast } from '../doctor/diagnose.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { sharedServer } from '../support/redis-server.ts'

const server = sharedServer()
beforeEach(() => atEnd(() => server.flush(), { beforeCheck: true }))

function newClient(options = {}) {
  const client = new Holdfast({ redis: server.url, leaseMs: 900, ...options })
  atEnd(() => client.close(), { beforeCheck: true })
  return client
}

const release = (args: readonly string[], ask?: (question: string) => Promise<string>) =>
  holdfast(['release', ...args, '--url', server.url], ask === undefined ? {} : { prompt: ask })

const isHeld = async (name: string) => (await server.admin.exists(name)) === 1

test('release shows the holder and the effects, asks for a confirmation, and prints the next steps', async () => {
  const [client, other] = [newClient({ keyPrefix: 'app:' }), newClient({ keyPrefix: 'app:' })]
  const stuck = await client.getFairLock('a').lock()
  const next = other.getFairLock('a').lock()
  await eventually(async () => (await client.getFairLock('a').inspect()).queueLength === 1)
  const questions: string[] = []
  const { code, out, err } = await release(
    ['a', '--force', '--key-prefix', 'app:'],
    async (one) => {
      questions.push(one)
      return ' yes '
    },
  )
  expect(code).toBe(0)
  expect(questions).toEqual(['Take the lock from this holder? Type yes to confirm: '])
  const label = `${hostname()}:${process.pid}`
  for (const text of [
    `"app:a" (lock, held) at 127.0.0.1:${server.port}\n  held by   ${label}\n`,
    `  process   ${process.pid} on ${hostname()}\n`,
    `  owner     ${stuck.owner}\n`,
    `  token     ${stuck.token}\n`,
    `  waiting   1, next ${label}\n`,
    'the holder notices the release at its next renewal',
    `The fence is ${stuck.token}: your store must refuse all tokens up to ${stuck.token}. Every later token`,
  ]) {
    expect(err).toContain(text)
  }
  expect(err).toMatch(/ {2}lease {5}\d+ ms left\n/)
  expect(out).toBe(
    `"app:a" was taken from ${label}. The next waiter was notified.\n` +
      `The fence is ${stuck.token}.\n` +
      `1. End process ${process.pid} on ${hostname()}, if it hangs.\n` +
      `2. If your store keeps the last token, raise that token to ${stuck.token + 1}. The store then refuses ${label} at once, and accepts all later holders.\n`,
  )
  expect((await next).token).toBeGreaterThan(stuck.token)
  await eventually(() => stuck.signal.aborted)
})

test('release changes nothing unless the answer is yes', async () => {
  await newClient().getLock('a').lock()
  for (const answer of ['', 'y', 'no', 'a']) {
    const { code, out, err } = await release(['a', '--force'], async () => answer)
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/Nothing was done\.\n$/)
  }
  expect(await isHeld('a')).toBe(true)
})

test('release refuses wrong options with advice, such as a missing --force or --yes', async () => {
  await newClient().getLock('a').lock()
  for (const [args, message] of [
    [
      ['a', '--yes'],
      /^release needs --force, because a release does not stop the holder of "a"\. npx holdfast inspect shows the holder/,
    ],
    [['a', '--force'], /^release asks before it takes "a", and there is no terminal: add --yes\./],
    [['--force', '--yes'], /^release needs the name of a lock; got ""\./],
    [['a', '--force', '--yes', '--token', 'x'], /^--token must be a whole number .*; got "x"\./],
  ] as const) {
    const { code, out, err } = await release(args)
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(message)
  }
  expect(await isHeld('a')).toBe(true)
})

test('release with --token or --owner changes nothing unless they match the holder', async () => {
  const lease = await newClient().getLock('a').lock()
  for (const wrong of [
    ['--token', `${lease.token - 1}`],
    ['--owner', 'NxwZr5PVhg5sb0Me8yo04:17'],
    [`--owner=${lease.owner}`, '--token', '1'],
  ]) {
    const { code, out, err } = await release(['a', '--force', '--yes', ...wrong])
    expect([code, err]).toEqual([1, ''])
    expect(out).toMatch(
      /^Nothing was done: "a" has another holder by now\. npx holdfast inspect shows /,
    )
  }
  expect(await isHeld('a')).toBe(true)
  const right = [`--owner=${lease.owner}`, '--token', `${lease.token}`]
  const { code, out } = await release(['a', '--force', '--yes', '--json', ...right])
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({
    name: 'a',
    outcome: 'released',
    fence: lease.token,
    token: lease.token,
    holder: { owner: lease.owner, process: { pid: process.pid } },
  })
  expect(await isHeld('a')).toBe(false)
})

test('a new holder keeps the lock if it acquired the lock before the answer came', async () => {
  const client = newClient()
  const first = await client.getLock('a').lock()
  const { code, out } = await release(['a', '--force', '--json'], async () => {
    await first.release()
    await client.getLock('a').lock()
    return 'yes'
  })
  expect(code).toBe(1)
  expect(JSON.parse(out)).toMatchObject({ outcome: 'changed', fence: null })
  expect(await isHeld('a')).toBe(true)
})

test('release of a free lock succeeds, even if the holder released the lock before the answer', async () => {
  const unknown = await release(['typo', '--force', '--yes'])
  expect([unknown.code, unknown.err]).toEqual([0, ''])
  expect(unknown.out).toMatch(/^"typo" is free at .* check the name and its keyPrefix\.\n$/)
  const lease = await newClient().getLock('a').lock()
  const { code, out } = await release(['a', '--force'], async () => {
    await lease.release()
    return 'yes'
  })
  expect([code, out]).toEqual([
    0,
    expect.stringMatching(/^"a" was already free: .* released it, or its lease had ended\.\n$/),
  ])
})

test('release of a lock with several holders needs --owner', async () => {
  const [client, other] = [newClient(), newClient()]
  const leases = [
    await client.getReadWriteLock('rw').readLock().lock(),
    await other.getReadWriteLock('rw').readLock().lock(),
  ]
  const owners = await server.admin.hkeys('rw')
  const { code, err } = await release(['rw', '--force', '--yes'])
  expect(code).toBe(2)
  expect(err).toMatch(/^"rw" has 2 holders: choose one with --owner=<owner>\.\n/)
  const [first] = owners.filter((one) => one !== 'mode') as [string]
  expect(err).toContain(first)
  const done = await release(['rw', '--force', '--yes', `--owner=${first}`])
  expect(done.code).toBe(0)
  expect(done.err).toContain(
    'There will be no fence: a store that refuses all tokens up to a fence could also refuse the other holders.\n',
  )
  expect(done.out).not.toContain('fence')
  await eventually(() => leases.some(({ signal }) => signal.aborted))
  expect(await isHeld('rw')).toBe(true)
})

test('release --owner ends one permit by its id, and says that the other permits stay', async () => {
  const semaphore = newClient().getPermitExpirableSemaphore('api', { permits: 5 })
  const [id = ''] = (await semaphore.acquire({ permits: 2 })).ids
  const { code, err } = await release(['api', '--force', '--yes', `--owner=${id}`])
  expect(code).toBe(0)
  expect(err).toContain(`holds     2, only ${id} ends\n`)
  expect(await semaphore.availablePermits()).toBe(4)
})

test('release refuses a semaphore without leases and a latch, and leaves both unchanged', async () => {
  const client = newClient()
  const [semaphore, latch] = [client.getSemaphore('api'), client.getCountDownLatch('ready')]
  await semaphore.trySetPermits(1)
  await latch.trySetCount(2)
  const refused = await release(['api', '--force', '--yes'])
  expect(refused.code).toBe(2)
  expect(refused.err).toMatch(
    /^"api" is a semaphore without leases, so the holders of its permits are unknown\./,
  )
  const { code, err } = await release(['ready', '--force', '--yes'])
  expect(code).toBe(2)
  expect(err).toMatch(/^"ready" is a latch, which has no holder\./)
  expect([await semaphore.availablePermits(), await latch.count()]).toEqual([1, 2])
})

test('names and labels do not control the terminal in release', async () => {
  await newClient({ label: 'a\u001b[2Jb' }).getLock('x\u001b[2J').lock()
  const { out, err } = await release(['x\u001b[2J', '--force', '--yes'])
  expect(out + err).not.toContain('\u001b')
  expect(err).toContain('"x\\x1b[2J"')
})

test('release exits with 3 and an error if the server is unreachable or refuses the command', async () => {
  await newClient().getLock('a').lock()
  const away = await holdfast(['release', 'a', '--force', '--yes', '--url', '127.0.0.1:1'])
  expect([away.code, away.out]).toEqual([3, ''])
  expect(away.err).toMatch(/^127\.0\.0\.1:1 cannot be asked: /)
  await server.admin.call('ACL', 'SETUSER', 'looks', 'on', '>x', 'allkeys', 'allchannels')
  await server.admin.call('ACL', 'SETUSER', 'looks', '+@all', '-eval')
  atEnd(() => server.admin.call('ACL', 'DELUSER', 'looks'), { beforeCheck: true })
  const login = ['--user', 'looks', '--pass', 'x']
  const { code, err } = await release(['a', '--force', '--yes', ...login])
  expect(code).toBe(3)
  expect(err).toMatch(/"a" may not have been released\. Check the lock again\. .*NOPERM/)
  expect(await isHeld('a')).toBe(true)
})

test('release names the page about rights if the login may not release a lock or a permit', async () => {
  const client = newClient()
  await client.getLock('a').lock()
  const permit = await client.getPermitExpirableSemaphore('pool', { permits: 1 }).acquire()
  await server.admin.call('ACL', 'SETUSER', 'looks', 'on', '>x', 'allkeys', 'allchannels')
  await server.admin.call('ACL', 'SETUSER', 'looks', '+@all', '-eval')
  atEnd(() => server.admin.call('ACL', 'DELUSER', 'looks'), { beforeCheck: true })
  const login = ['--user', 'looks', '--pass', 'x']
  const ofPermit = ['pool', '--owner', permit.owner]
  for (const what of [['a'], ofPermit]) {
    const { code, err } = await release([...what, '--force', '--yes', ...login])
    expect(code).toBe(3)
    expect(err).toMatch(/NOPERM .*\ndocs\/reference\/acl\.md lists the rights that a login needs\./)
  }
})

test('the history records who released a lock by force', async () => {
  await server.admin.xadd('holdfast_history', '*', 'event', 'acquired')
  await newClient().getLock('a').lock()
  await release(['a', '--force', '--yes'])
  const [, entry] = (await server.admin.xrange('holdfast_history', '-', '+')).at(-1) ?? []
  expect(entry?.join(' ')).toMatch(
    new RegExp(`event forced name a .* reason by \\S+@${hostname()} `),
  )
  const { out } = await holdfast(['inspect', 'a', server.url, '--json', '--look-ms=0'])
  expect(JSON.parse(out)).toMatchObject({ state: 'free' })
})
