import { setTimeout as pause } from 'node:timers/promises'
import type { Holdfast } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { faultRig } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'

/**
 * Other clients do not know of a waiter that does not listen. So a client that hands the lock over to its own callers
 * releases the lock from time to time. It then waits for longer than a release and an acquisition take.
 */
const rig = faultRig()

/** Starts callers of one client that acquire the lock again and again until the end of the test. */
function keepBusy(client: Holdfast, name: string): () => Promise<void> {
  let over = false
  let served = 0
  const caller = async () => {
    while (!over) {
      const lease = await client.getLock(name).lock()
      served += 1
      await pause(1)
      await lease.release()
    }
  }
  const callers = Promise.all(Array.from({ length: 6 }, caller))
  const stop = async () => {
    over = true
    await callers
  }
  atEnd(stop, { beforeCheck: true })
  return async () => {
    await eventually(() => served > 50)
  }
}

test('a client that tries from time to time gets the lock beside a busy client', async () => {
  await keepBusy(rig.client(), 'it')()
  const lock = rig.witness().getLock('it')
  const lease = await eventually(() => lock.tryLock(), { timeoutMs: 20_000 })
  await lease.release()
})

test('a client that may not subscribe gets the lock beside a busy client', async () => {
  const { host, port, admin } = rig.server
  await admin.acl('SETUSER', 'deaf', 'reset', 'on', '>pw', '~*', '&*', '+@all', '-subscribe')
  await keepBusy(rig.client(), 'it')()
  const deaf = rig.witness({ redis: `redis://deaf:pw@${host}:${port}` } as object)
  for (let times = 0; times < 2; times += 1) {
    const lease = await deaf.getLock('it').lock()
    await lease.release()
  }
})

test('a busy client without competition uses the lock for more than 70 % of the time', async () => {
  const client = rig.client()
  let acquired = 0
  client.on('acquired', () => {
    acquired += 1
  })
  await keepBusy(client, 'it')()
  let free = 0
  let looks = 0
  const until = performance.now() + 3_000
  while (performance.now() < until) {
    looks += 1
    if (!(await rig.exists('it'))) free += 1
    await pause(1)
  }
  expect(acquired).toBeGreaterThan(50)
  expect(free).toBeGreaterThan(0)
  expect(free / looks).toBeLessThan(0.3)
})
