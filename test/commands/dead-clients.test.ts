import { holdfast } from '../doctor/diagnose.ts'
import { startChild } from '../support/children.ts'
import { eventually } from '../support/eventually.ts'
import { newSetting } from './setting.ts'

const { server, newClient, inspected } = newSetting()

/** Starts a process that holds `held` and waits in the queue of `awaited`. Then kills the process. */
async function killWorker(): Promise<number> {
  const worker = startChild('test/commands/fixtures/worker.mjs', { args: [server.url] })
  await worker.next((message) => message === 'holds')
  const client = newClient()
  await eventually(async () => (await client.getFairLock('awaited').inspect()).queueLength > 0)
  await eventually(async () => (await inspected('held')).holders[0]?.process != null)
  worker.kill('SIGKILL')
  await worker.exited
  return worker.pid
}

test('inspect does not call a killed holder alive: it reports when its client was last seen', async () => {
  const lease = await newClient().getFairLock('awaited').lock()
  const pid = await killWorker()
  await eventually(async () => ((await inspected('held')).holders[0]?.process?.seenMs ?? 0) > 1_000)
  const { holders, toFree } = await inspected('held')
  const [sentence = ''] = toFree.sentences
  expect(sentence).not.toContain('alive')
  expect(sentence).toMatch(new RegExp(`^worker-C was last seen \\d+ s ago: .* process ${pid} on `))
  const seenMs = holders[0]?.process?.seenMs ?? 0
  // If the last report is older than two intervals, the process is probably gone.
  const at = `${Date.now() - 60_000} ${Date.now() - 60_000}`
  await server.admin.hset(`holdfast_client:{${holders[0]?.process?.client}}`, 'at', at)
  const later = await inspected('held')
  expect(later.holders[0]?.process?.seenMs).toBeGreaterThan(Math.max(59_000, seenMs))
  expect(later.toFree.sentences[0]).toMatch(
    /^worker-C is probably gone: it was last seen 6\d s ago/,
  )
  await lease.release()
})

test('a dead waiter is listed, but does not count as a waiter, nor for the longest wait', async () => {
  const client = newClient()
  const lease = await client.getFairLock('awaited').lock()
  await killWorker()
  const giveUp = new AbortController()
  const waiting = newClient({ label: 'alive' })
    .getFairLock('awaited')
    .lock({ signal: giveUp.signal })
  waiting.catch(() => {})
  // Its place counts for 6 s after its last heartbeat, and stays in the queue until a client clears it.
  await eventually(async () => (await inspected('awaited')).queue.some(({ isDead }) => isDead), {
    timeoutMs: 12_000,
  })
  const { queue, waiting: count, oldestWaitMs } = await inspected('awaited')
  const [dead, alive] = queue
  expect(queue.map(({ isDead, process }) => [process?.label, isDead])).toEqual([
    ['worker-C', true],
    ['alive', false],
  ])
  expect(count).toBe(1)
  expect(oldestWaitMs).toBe(alive?.waitedMs)
  expect(dead?.waitedMs).toBeGreaterThan(alive?.waitedMs ?? 0)
  const { out } = await holdfast(['inspect', 'awaited', server.url, '--look-ms=0'])
  expect(out).toMatch(/waiting +1, the longest for \d+ m?s, without 1 dead waiter\n/)
  const list = await holdfast(['list', server.url])
  expect(list.out).toMatch(/awaited .* 1 +\d+ m?s\n/)
  giveUp.abort()
  await lease.release()
})
