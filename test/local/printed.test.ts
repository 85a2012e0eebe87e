import { inspect } from 'node:util'
import { createMemoryServer } from '../../src/testing.ts'

const newClient = () => createMemoryServer().newClient({ keyPrefix: 'app:' })

test('a lease that somebody logs tells which it is and how long it lasts, and nothing of others', async () => {
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

test('permits tell how many they are, and leases of several locks the names of all', async () => {
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

test('a lock that somebody logs tells its name and its key', async () => {
  await using client = newClient()
  const [a, b] = [client.getLock('a'), client.getFairLock('b')]
  expect(inspect(a)).toBe("HoldfastLock { name: 'a', key: 'app:a' }")
  expect(inspect({ locks: [a] }, { depth: 0 })).toBe('{ locks: [Array] }')
  expect(inspect(client.getMultiLock(a, b))).toBe("HoldfastMultiLock { name: 'a + b' }")
  expect(JSON.stringify({ a, b })).toBe(
    '{"a":{"name":"a","key":"app:a"},"b":{"name":"b","key":"app:b"}}',
  )
})
