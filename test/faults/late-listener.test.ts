import { atLoad } from '../support/at-load.ts'
import { eventually } from '../support/eventually.ts'
import { faultRig, granted, SHA, within } from '../support/fault-rig.ts'

const rig = faultRig()

/** Without a message, a waiter checks the lock after 5 to 6 s. */
const BEFORE_FALLBACK_MS = 3_000

async function scriptsRun(): Promise<number> {
  const stats = await rig.server.admin.info('commandstats')
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1])
}

describe('a waiter acquires at once what was released before it began to listen', () => {
  test.each(['onFree', 'whenFree'] as const)('beside %s of the same client', async (beside) => {
    const client = rig.client()
    const lock = client.getLock('it')
    const held = await rig.witness().getLock('it').lock()
    const free = jest.fn()
    const stop = beside === 'onFree' ? lock.onFree(free) : undefined
    const freed = beside === 'whenFree' ? lock.whenFree() : undefined
    await rig.listening('it')
    const refusal = rig.proxy.onNextRequest(SHA.acquire, 'holdReply')
    const scripts = await scriptsRun()
    const startedAt = performance.now()
    const waiting = lock.lock()
    await refusal.seen
    await eventually(async () => (await scriptsRun()) > scripts, { message: 'the refusal' })
    await held.release()
    refusal.release()
    const lease = granted(await within(10_000, waiting))
    expect(performance.now() - startedAt).toBeLessThan(atLoad(BEFORE_FALLBACK_MS))
    stop?.()
    await lease.release()
    await freed
  })
})
