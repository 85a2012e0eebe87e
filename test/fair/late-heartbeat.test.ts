import { eventually } from '../support/eventually.ts'
import { faultRig } from '../support/fault-rig.ts'
import * as scripts from '../support/scripts.ts'

const rig = faultRig()

test('a heartbeat that runs after the request of its waiter was granted does not queue the holder again', async () => {
  const client = rig.client({ commandTimeoutMs: 5_000, outageMs: 20_000 })
  const plain = await rig.witness().getLock('it').lock()
  const lock = client.getFairLock('it')
  const first = lock.lock()
  const second = lock.lock()
  // A waiter that learns its place from a heartbeat also listens for releases by other clients.
  await rig.listening('it')
  const beats = rig.proxy.count(scripts.heartbeat.sha1)
  const ask = rig.proxy.onNextRequest(scripts.acquireFair.sha1, 'hold')
  await plain.release()
  await ask.seen
  await eventually(() => rig.proxy.count(scripts.heartbeat.sha1) > beats, {
    message: 'a heartbeat behind it',
  })
  ask.release()
  const lease = await first
  await (await client.getLock('other').lock()).release() // Now all earlier requests have run.
  const { holder, queue } = await lock.inspect()
  expect(queue.map(({ owner }) => owner)).not.toContain(holder)
  await lease.release()
  await (await second).release()
})
