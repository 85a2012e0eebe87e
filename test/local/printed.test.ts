import { inspect } from 'node:util'
import { Holdfast } from '../../src/index.ts'
import { createMemoryServer } from '../../src/testing.ts'

const newClient = () => createMemoryServer().newClient({ keyPrefix: 'app:' })

test('a printed lease shows its name, its token and its remaining time, and nothing else', async () => {
  await using client = newClient()
  const { first, second } = await client.run(async () => {
    const lock = client.getLock('it')
    return { first: await lock.lock(), second: await lock.lock() }
  })
  for (const lease of [first, second]) {
    const { remainingMs, ...rest } = JSON.parse(JSON.stringify(lease)) as { remainingMs: number }
    expect(rest).toEqual({ name: 'it', token: first.token, valid: true })
    expect(remainingMs).toBeGreaterThan(1_000)
    expect(inspect(lease, { depth: 10, breakLength: Infinity })).toMatch(
      /^LocalLease \{ name: 'it', token: \d+, valid: true, remainingMs: \d+ \}$/,
    )
  }
  await first.release()
  await second.release()
  expect(JSON.stringify(second)).toContain('"valid":false,"remainingMs":0')
})

test('printed permits show their number, and a printed lease of several locks shows all names', async () => {
  await using client = newClient()
  const semaphore = client.getPermitExpirableSemaphore('slots')
  await semaphore.trySetPermits(3)
  const permit = await semaphore.acquire({ permits: 2 })
  expect(JSON.parse(JSON.stringify(permit))).toMatchObject({
    name: 'slots',
    permits: 2,
    valid: true,
  })
  const lease = await client.getMultiLock(client.getLock('a'), client.getLock('b')).lock()
  expect(JSON.parse(JSON.stringify(lease))).toMatchObject({ name: 'a + b', token: lease.token })
})

test('a printed lock shows its name and its key', async () => {
  await using client = newClient()
  const [a, b] = [client.getLock('a'), client.getFairLock('b')]
  expect(inspect(a)).toBe("HoldfastLock { name: 'a', key: 'app:a' }")
  expect(inspect({ locks: [a] }, { depth: 0 })).toBe('{ locks: [Array] }')
  expect(inspect(client.getMultiLock(a, b))).toBe("HoldfastMultiLock { name: 'a + b' }")
  expect(JSON.stringify({ a, b })).toBe(
    '{"a":{"name":"a","key":"app:a"},"b":{"name":"b","key":"app:b"}}',
  )
})

test('a printed client shows its address and its counts, and no password', async () => {
  const client = new Holdfast({ redis: 'redis://ada:secret@127.0.0.1:6390/2' })
  client.on('error', () => {})
  expect(inspect(client, { breakLength: Infinity })).toBe(
    `Holdfast { id: '${client.id}', at: '127.0.0.1:6390', held: 0, waiting: 0 }`,
  )
  const masters = ['redis://:secret@a:1', { host: 'b', port: 2, password: 'secret' }, '/tmp/c.sock']
  const several = new Holdfast({ masters })
  expect(JSON.stringify(several)).toBe(
    `{"id":"${several.id}","at":"a:1, b:2, /tmp/c.sock","held":0,"waiting":0}`,
  )
  const sentinels = [{ host: 's', port: 26_379 }]
  const failing = new Holdfast({ redis: { sentinels, name: 'main', sentinelPassword: 'secret' } })
  expect(failing.toJSON()).toMatchObject({ at: 'main by Sentinel' })
  await Promise.all([client.close(), several.close(), failing.close()])
})

test('a printed client counts holds and waits, and a printed candidate shows whether it leads', async () => {
  await using client = newClient()
  const lock = client.getLock('it')
  const lease = await lock.lock()
  const waiting = lock.lock()
  await client.getLock('other').lock()
  expect(client.toJSON()).toEqual({ id: client.id, at: 'memory', held: 2, waiting: 1 })
  await lease.release()
  await (await waiting).release()
  const election = client.getLeaderElection('jobs', { label: 'a' })
  expect(inspect(election)).toBe("LeaderElection { name: 'jobs', label: 'a', isLeading: false }")
})
