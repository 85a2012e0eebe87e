import { Holdfast } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { startSettable } from '../support/settable-clock.ts'

const HOUR_MS = 3_600_000

test('after the clock of the server was set back by an hour, the job runs again after its `atLeastMs`', async () => {
  const server = await startSettable()
  const newJob = () => {
    const client = new Holdfast({ redis: server.url })
    atEnd(() => client.close(), { beforeCheck: true })
    return client.job('it', { atLeastMs: 300 })
  }
  await server.step(HOUR_MS)
  let runs = 0
  const work = ({ token }: { token: number }) => {
    runs += 1
    return token
  }
  const first = await newJob().run(work)
  await server.step(-HOUR_MS)
  const job = newJob()
  expect(await job.run(work)).toMatchObject({ ran: false, why: 'served' })
  const second = await eventually(async () => {
    const outcome = await job.run(work)
    return outcome.ran && outcome
  })
  expect(runs).toBe(2)
  expect(second.result).toBeGreaterThan((first as { result: number }).result)
  const { ended } = await job.inspect()
  expect(ended.map(({ state }) => state)).toEqual(['done', 'done'])
})

test('after the clock of the server was set forward, a tick is not repeated', async () => {
  const server = await startSettable()
  const client = new Holdfast({ redis: server.url })
  atEnd(() => client.close(), { beforeCheck: true })
  const job = client.job('it')
  expect(await job.run(() => 1, { tick: 1 })).toMatchObject({ ran: true })
  await server.step(HOUR_MS)
  expect(await job.run(() => 2, { tick: 1 })).toMatchObject({ why: 'served', run: { result: 1 } })
})
