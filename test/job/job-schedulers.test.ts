import { schedule } from 'node-cron'
import { Holdfast } from '../../src/index.ts'
import { startChild } from '../support/children.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { sharedServer } from '../support/redis-server.ts'

const server = sharedServer()

const EVERY_MS = 1_000
/** The test sees so many ticks. */
const TICKS = 3

beforeEach(() => {
  const forget = async () => {
    const keys = await server.admin.keys('*')
    const stored = keys.filter((key) => /^(bull:|holdfast_.*job:tick)/.test(key))
    if (stored.length > 0) await server.admin.del(...stored)
  }
  atEnd(forget, { beforeCheck: true })
})

/** What a process reports about one tick. `startedAt` is null if another process ran the job. */
interface Tick {
  readonly calledAt: number
  readonly startedAt: number | null
}

interface Second {
  onTime: number
  late: number
  runs: number
}

/** A tick is on time if its calls and its run begin within this time before or after their second, in milliseconds. */
const ON_TIME_MS = 200

test('node-cron, croner, setInterval, @nestjs/schedule and BullMQ in five processes run the job once per tick', async () => {
  const names = ['node-cron', 'croner', 'setInterval', '@nestjs/schedule', 'BullMQ']
  const children = names.map((name) =>
    startChild('test/job/scheduler.mjs', { args: [name, server.url] }),
  )
  const secondsSoFar = () => {
    const seconds = new Map<number, Second>()
    for (const { calledAt, startedAt } of children.flatMap(({ all }) => all as Tick[])) {
      const n = Math.round(calledAt / EVERY_MS)
      const second = seconds.get(n) ?? { onTime: 0, late: 0, runs: 0 }
      seconds.set(n, second)
      const isOnTime = (ms: number) => Math.abs(ms - n * EVERY_MS) < ON_TIME_MS
      second[isOnTime(calledAt) && isOnTime(startedAt ?? calledAt) ? 'onTime' : 'late'] += 1
      if (startedAt !== null) second.runs += 1
    }
    return seconds
  }
  // On a loaded machine, a timer can be later than `atLeastMs`. The job then promises nothing for this tick.
  const ticks = () => {
    const seconds = secondsSoFar()
    const areOnTime = (n: number) => seconds.get(n)?.onTime === names.length
    return [...seconds].filter(([n]) => areOnTime(n - 1) && areOnTime(n))
  }
  await eventually(() => ticks().length > TICKS, {
    timeoutMs: 60_000,
    message: `ticks on time; ${children.map(({ errors }) => errors).join('')}`,
  })
  const runs = ticks().map(([, second]) => second.runs)
  expect(runs).toEqual(runs.map(() => 1))
})

test('the scheduled time of node-cron is the tick, and the job needs no `atLeastMs`', async () => {
  const ticks: number[] = []
  const start = () => {
    const client = new Holdfast({ redis: server.url })
    const calls: Promise<unknown>[] = []
    const task = schedule('* * * * * *', ({ date: tick }) => {
      calls.push(client.job('tick').run(() => void ticks.push(tick.getTime()), { tick }))
    })
    const end = async () => {
      await task.destroy()
      await Promise.all(calls)
      await client.close()
    }
    atEnd(end, { beforeCheck: true })
    return calls
  }
  const all = [start(), start()]
  await eventually(() => all.every((calls) => calls.length >= 2))
  await Promise.all(all.flat())
  expect(ticks.map((tick) => tick % EVERY_MS)).toEqual(ticks.map(() => 0))
  expect(new Set(ticks).size).toBe(ticks.length)
  expect(ticks.length).toBeGreaterThanOrEqual(2)
})
