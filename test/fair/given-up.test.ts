import { jest } from '@jest/globals'
import { createMemoryServer } from '../../src/testing.ts'
import { WaitReports } from '../../src/waiting/wait-reports.ts'
import { eventually } from '../support/eventually.ts'

test('a call that gives up before its place is known is not reported as a waiter', async () => {
  const server = createMemoryServer()
  await using holder = server.newClient()
  await using client = server.newClient()
  const lease = await holder.getFairLock('it').lock()
  const [began, ended] = [
    jest.spyOn(WaitReports.prototype, 'began'),
    jest.spyOn(WaitReports.prototype, 'waitEnded'),
  ]
  const waits = jest.fn()
  client.on('wait', waits)
  const leaving = new AbortController()
  const call = client.getFairLock('it').lock({ signal: leaving.signal })
  // The request is on its way, and its answer will say that the waiter is in the queue.
  leaving.abort()
  await expect(call).rejects.toBe(leaving.signal.reason)
  await eventually(async () => (await client.getFairLock('it').inspect()).queueLength === 0)
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(ended).toHaveBeenCalled()
  expect(began.mock.calls.length).toBe(0)
  expect(waits).not.toHaveBeenCalled()
  await lease.release()
})
