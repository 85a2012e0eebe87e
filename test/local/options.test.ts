import { ClosedError, Holdfast } from '../../src/index.ts'
import { createMemoryServer } from '../../src/testing.ts'
import { catchWarnings } from '../support/warnings.ts'

const warnings = catchWarnings(true)
const redis = 'redis://127.0.0.1:1'

test('a `commandTimeoutMs` above `outageMs` causes one warning in a process', async () => {
  for (const options of [{}, { outageMs: 500 }, { commandTimeoutMs: 500, outageMs: 500 }]) {
    await new Holdfast({ redis, ...options }).close()
  }
  expect(warnings).toEqual([])
  await new Holdfast({ redis, commandTimeoutMs: 9_000 }).close()
  await new Holdfast({ redis, commandTimeoutMs: 9_000, outageMs: 8_000 }).close()
  expect(warnings).toEqual([
    {
      code: 'HOLDFAST_ONE_TRY',
      message: expect.stringMatching(
        /\(9000\) is larger than `outageMs` \(5000\).*without a second try/,
      ),
      atMs: expect.any(Number),
    },
  ])
})

test('a list of servers as `redis` is refused, with the three options that may be meant', () => {
  const call = () => new Holdfast({ redis: [redis, redis] as never })
  expect(call).toThrow(/cluster: \[\.\.\.\].*sentinels: \[\.\.\.\], name.*masters: \[\.\.\.\]/)
})

test('one argument too many is reported as such', async () => {
  await using client = createMemoryServer().newClient()
  const lock = client.getLock('it') as unknown as Record<
    'lock',
    (...args: unknown[]) => Promise<unknown>
  >
  await expect(lock.lock(30, 'SECONDS')).rejects.toThrow(
    'Too many arguments; got "SECONDS" as well. All times are milliseconds.',
  )
})

test('a lease after the options of tryLock() is one argument too many', async () => {
  await using client = createMemoryServer().newClient()
  const lock = client.getLock('it') as unknown as Record<
    'tryLock',
    (...args: unknown[]) => Promise<unknown>
  >
  await expect(lock.tryLock({ waitMs: 5 }, 1_000)).rejects.toThrow(
    'Too many arguments; got 1000 as well. All times are milliseconds.',
  )
})

test('the error of a client that is closing or closed says so, and when to create a new client', async () => {
  const client = createMemoryServer().newClient()
  const lease = await client.getLock('held').lock()
  const closing = client.close({ drainMs: 10_000 })
  const late = await client
    .getLock('it')
    .lock()
    .catch((error) => error)
  expect(late).toBeInstanceOf(ClosedError)
  expect(late.message).toMatch(
    /is closing\. It waits until its locks are released, and acquires no new locks\./,
  )
  await lease.release()
  await closing
  await expect(client.getLock('it').lock()).rejects.toThrow(
    /is closed\. .* If the process is not about to end, create a new client\.$/,
  )
})
