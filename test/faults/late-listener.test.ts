import { eventually } from '../support/eventually.ts'
import { faultRig, granted, SHA, within } from '../support/fault-rig.ts'

const rig = faultRig()

/** Without a message, a waiter checks the lock after 5 to 6 s. */
const BEFORE_FALLBACK_MS = 3_000

// If the lock is released after the first check and before the subscription, its message comes too early.
test('a waiter checks once more after it began to listen, even beside a listener of its client', async () => {
  const lock = rig.client({ commandTimeoutMs: 5_000 }).getLock('it')
  const held = await rig.witness().getLock('it').lock()
  const stop = lock.onFree(() => undefined)
  await rig.listening('it')
  const before = rig.proxy.count(SHA.acquire)
  const waiting = lock.lock()
  await eventually(() => rig.proxy.count(SHA.acquire) === before + 2, {
    timeoutMs: BEFORE_FALLBACK_MS,
  })
  await held.release()
  await granted(await within(5_000, waiting)).release()
  stop()
})
