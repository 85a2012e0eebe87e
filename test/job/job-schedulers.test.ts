import { Cron } from 'croner'
import { schedule } from 'node-cron'
import { Holdfast, type JobRun } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { sharedServer } from '../support/redis-server.ts'

const server = sharedServer()

const EVERY_MS = 1_000
/** The test sees so many ticks. */
const TICKS = 3

type Scheduler = (tick: (scheduledAt?: Date) => void) => () => unknown

/** Each starts a schedule with a tick at each second, and returns a function that ends the schedule. */
const schedulers: Record<string, Scheduler> = {
  'node-cron': (tick) => {
    const task = schedule('* * * * * *', ({ date }) => tick(date))
    return () => task.destroy()
  },
  croner: (tick) => {
    const cron = new Cron('* * * * * *', () => tick())
    return () => cron.stop()
  },
  setInterval: (tick) => {
    let interval: NodeJS.Timeout | undefined
    const start = () => {
      tick()
      interval = setInterval(() => tick(), EVERY_MS)
    }
    const first = setTimeout(start, EVERY_MS - (Date.now() % EVERY_MS))
    return () => {
      clearTimeout(first)
      clearInterval(interval)
    }
  },
}

beforeEach(() => {
  const forget = async () => {
    const keys = await server.admin.keys('holdfast_*:{*job:tick*')
    if (keys.length > 0) await server.admin.del(...keys)
  }
  atEnd(forget, { beforeCheck: true })
})

/** Starts the schedule in a client of its own. */
function start(name: string, run: (client: Holdfast, scheduledAt?: Date) => Promise<unknown>) {
  const client = new Holdfast({ redis: server.url, label: name })
  const calls: Promise<unknown>[] = []
  const stop = schedulers[name]?.((scheduledAt) => calls.push(run(client, scheduledAt)))
  const end = async () => {
    await stop?.()
    await Promise.all(calls)
    await client.close()
  }
  atEnd(end, { beforeCheck: true })
  return { calls }
}

test('node-cron, croner and setInterval in three clients run the job once per tick', async () => {
  const seconds: number[] = []
  const work = ({ startedAt }: JobRun) =>
    void seconds.push(Math.round(startedAt.getTime() / EVERY_MS))
  const all = Object.keys(schedulers).map((name) =>
    start(name, (client) => client.job('tick', { atLeastMs: EVERY_MS / 2 }).run(work)),
  )
  await eventually(() => all.every(({ calls }) => calls.length >= TICKS))
  await Promise.all(all.flatMap(({ calls }) => calls))
  const [first = 0] = seconds
  const whole = Array.from({ length: seconds.length }, (_, i) => first + i)
  expect(seconds).toEqual(whole)
  expect(seconds.length).toBeGreaterThanOrEqual(TICKS)
})

test('the scheduled time of node-cron is the tick, and the job needs no `atLeastMs`', async () => {
  const ticks: number[] = []
  const run = (client: Holdfast, tick = new Date(Number.NaN)) =>
    client.job('tick').run(() => void ticks.push(tick.getTime()), { tick })
  const all = [start('node-cron', run), start('node-cron', run)]
  await eventually(() => all.every(({ calls }) => calls.length >= 2))
  await Promise.all(all.flatMap(({ calls }) => calls))
  expect(ticks.map((tick) => tick % EVERY_MS)).toEqual(ticks.map(() => 0))
  expect(new Set(ticks).size).toBe(ticks.length)
  expect(ticks.length).toBeGreaterThanOrEqual(2)
})
