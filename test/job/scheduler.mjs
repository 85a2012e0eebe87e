// Runs a job at each tick of one scheduler, once per second, and reports each tick.
import { Holdfast } from '../../dist/esm/src/index.js'
import { onMessage, tell } from '../support/child.mjs'

const EVERY_MS = 1_000

/** Each starts a schedule with a tick at each second. */
const schedulers = {
  async 'node-cron'(tick) {
    const { schedule } = await import('node-cron')
    schedule('* * * * * *', tick)
  },
  async croner(tick) {
    const { Cron } = await import('croner')
    new Cron('* * * * * *', tick)
  },
  setInterval(tick) {
    const start = () => {
      tick()
      setInterval(tick, EVERY_MS)
    }
    setTimeout(start, EVERY_MS - (Date.now() % EVERY_MS))
  },
  async '@nestjs/schedule'(tick) {
    await import('reflect-metadata')
    const { Module } = await import('@nestjs/common')
    const { NestFactory } = await import('@nestjs/core')
    const { Cron, ScheduleModule } = await import('@nestjs/schedule')
    class Reports {
      send() {
        return tick()
      }
    }
    class App {}
    // The decorators `@Cron(…)` and `@Module(…)`, as functions.
    const method = Object.getOwnPropertyDescriptor(Reports.prototype, 'send')
    Cron('* * * * * *')(Reports.prototype, 'send', method)
    Module({ imports: [ScheduleModule.forRoot()], providers: [Reports] })(App)
    const app = await NestFactory.createApplicationContext(App, { logger: ['error'] })
    await app.init()
  },
  async BullMQ(tick, url) {
    const { Queue, Worker } = await import('bullmq')
    const { hostname: host, port } = new URL(url)
    const connection = { host, port: Number(port) }
    const queue = new Queue('reports', { connection })
    await queue.upsertJobScheduler('send', { pattern: '* * * * * *' })
    new Worker('reports', tick, { connection })
  },
}

const [name, url] = process.argv.slice(2)
const client = new Holdfast({ redis: url, label: name })
const job = client.job('tick', { atLeastMs: EVERY_MS / 2 })
await job.inspect()

async function tick() {
  const calledAt = Date.now()
  let startedAt = null
  try {
    await job.run((run) => {
      startedAt = run.startedAt.getTime()
    })
    tell({ calledAt, startedAt })
  } catch (error) {
    tell({ error: String(error) })
  }
}

// The process ends with its input.
onMessage(() => {})
await schedulers[name](tick, url)
