import { holdfast } from '../doctor/diagnose.ts'
import { eventually } from '../support/eventually.ts'
import { newSetting } from './setting.ts'

const { server, newClient, inspected } = newSetting()

test('list and inspect show which client waits for a plain lock, and for how long', async () => {
  const lease = await newClient().getLock('it').lock()
  const waiter = newClient({ label: 'patient' })
  const giveUp = new AbortController()
  const startedAt = performance.now()
  const waiting = waiter.getLock('it').lock({ signal: giveUp.signal })
  waiting.catch(() => {})
  await eventually(async () => (await inspected('it')).oldestWaitMs !== null, {
    timeoutMs: 15_000,
  })
  const { queue, waiting: count, oldestWaitMs } = await inspected('it')
  const elapsedMs = performance.now() - startedAt
  expect(count).toBe(1)
  expect(queue).toMatchObject([
    { owner: waiter.id, isDead: false, process: { label: 'patient', pid: process.pid } },
  ])
  expect(oldestWaitMs).toBeGreaterThanOrEqual(1_000)
  expect(oldestWaitMs).toBeLessThanOrEqual(elapsedMs + 50)
  const { out } = await holdfast(['list', server.url])
  expect(out).toMatch(/^it .* 1 +\d+ m?s\n/m)
  const text = await holdfast(['inspect', 'it', server.url, '--look-ms=0'])
  expect(text.out).toMatch(/waiting +1, the longest for \d+ m?s\n/)
  giveUp.abort()
  await lease.release()
})
