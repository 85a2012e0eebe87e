import { type Holdfast, ReleaseRequestedError } from '../../src/index.ts'
import { createMemoryServer } from '../../src/testing.ts'

const names = (client: Holdfast): string[] => {
  const heard: string[] = []
  client.on('releaseRequested', ({ name }) => heard.push(name))
  return heard
}

test('a release request for a multi-lock reaches the holders of each lock', async () => {
  const server = createMemoryServer()
  await using one = server.newClient()
  await using two = server.newClient()
  await using requester = server.newClient()
  const heard = [names(one), names(two)]
  const leases = [await one.getLock('a').lock(), await two.getFairLock('b').lock()]
  const multi = requester.getMultiLock(...['a', 'b', 'c'].map((name) => requester.getLock(name)))
  expect(await multi.requestRelease({ reason: 'all of it' })).toBe(2)
  expect(heard).toEqual([['a'], ['b']])
  for (const lease of leases) await lease.release()
})

test('a multi-lease receives the first release request for any of its locks, until it is released', async () => {
  const server = createMemoryServer()
  await using client = server.newClient()
  await using requester = server.newClient()
  const multi = client.getMultiLock(client.getLock('a'), client.getLock('b'))
  const lease = await multi.lock()
  const { releaseRequested } = lease
  expect(releaseRequested).toBe(lease.releaseRequested)
  expect(releaseRequested.aborted).toBe(false)
  expect(await requester.getLock('b').requestRelease({ reason: 'b alone' })).toBe(1)
  expect(releaseRequested.reason).toBeInstanceOf(ReleaseRequestedError)
  expect(releaseRequested.reason).toMatchObject({ lockName: 'b', reason: 'b alone' })
  expect(lease.valid).toBe(true)
  await lease.release()
  const next = await multi.lock()
  await next.release()
  expect(next.releaseRequested.aborted).toBe(false)
})
