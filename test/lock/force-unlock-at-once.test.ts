import { Holdfast } from '../../src/index.ts'
import { atEnd } from '../support/lifetime.ts'
import { sharedServer } from '../support/redis-server.ts'

const server = sharedServer()

test('`forceUnlock()` ends the hold of the same client even when the grant arrives together with its answer', async () => {
  const client = new Holdfast({ redis: server.url })
  atEnd(() => client.close(), { beforeCheck: true })
  const lock = client.getLock('it')
  await (await lock.lock()).release()
  const missed: number[] = []
  for (let i = 0; i < 50; i++) {
    const locking = lock.lock()
    // The client sends both requests at once, so both answers arrive in one chunk.
    const [lease, freed] = await Promise.all([locking, lock.forceUnlock()])
    if (freed && lease.valid) missed.push(i)
    await lease.release()
  }
  expect(missed).toEqual([])
})
