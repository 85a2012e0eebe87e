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

/** A tick is on time if its calls and its run begin within this time before or after their second, in milliseconds. */
const ON_TIME_MS = 200

test('node-cron, croner and setInterval in three clients run the job once per tick', async () => {
  const names = Object.keys(schedulers)
  /** The number of calls on time, and of late calls, by second. */
  const calls = new Map<number, { onTime: number; late: number }>()
  const runs: number[] = []
  const isOnTime = (ms: number, second: number) => Math.abs(ms - second * EVERY_MS) < ON_TIME_MS
  for (const name of names) {
    start(name, (client) => {
      const now = Date.now()
      const second = Math.round(now / EVERY_MS)
      const count = calls.get(second) ?? { onTime: 0, late: 0 }
      calls.set(second, count)
      count[isOnTime(now, second) ? 'onTime' : 'late'] += 1
      return client.job('tick', { atLeastMs: EVERY_MS / 2 }).run(({ startedAt }: JobRun) => {
        if (!isOnTime(startedAt.getTime(), second)) count.late += 1
        runs.push(second)
      })
    })
  }
  const areOnTime = (second: number) => {
    const { onTime, late } = calls.get(second) ?? { onTime: 0, late: 0 }
    return onTime === names.length && late === 0
  }
  // On a loaded machine, a timer can be later than `atLeastMs`. The job then promises nothing for this tick.
  const ticks = () => [...calls.keys()].filter((one) => areOnTime(one - 1) && areOnTime(one))
  await eventually(() => ticks().length > TICKS, { timeoutMs: 60_000 })
  const seen = ticks().slice(0, TICKS)
  expect(seen.map((tick) => runs.filter((second) => second === tick).length)).toEqual(
    seen.map(() => 1),
  )
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
