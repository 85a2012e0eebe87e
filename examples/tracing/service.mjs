// One process of a traced service. The process `report` holds a lock for a long time, so the process `order` is slow.
// Each process prints each span that ends, as a line of JSON. `run.mjs` runs both.

import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { Holdfast } from 'holdfast'
import { instrument } from 'holdfast/opentelemetry'

const role = process.argv[2]
const toMs = ([seconds, nanoseconds]) => seconds * 1_000 + nanoseconds / 1e6
const exporter = {
  export(spans, done) {
    for (const span of spans) {
      const { traceId, spanId } = span.spanContext()
      const line = {
        process: role,
        name: span.name,
        traceId,
        spanId,
        parent: span.parentSpanContext?.spanId,
        links: span.links.map(({ context, attributes }) => ({ to: context.spanId, ...attributes })),
        startMs: toMs(span.startTime),
        endMs: toMs(span.endTime),
        attributes: span.attributes,
      }
      console.log(JSON.stringify(line))
    }
    done({ code: 0 })
  },
  shutdown: async () => {},
}

const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
trace.setGlobalTracerProvider(provider)
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
const instrumentation = instrument({ nameOf: (name) => name.replace(/:.*/, '') })

const tracer = trace.getTracer('shop')
const inSpan = (name, work) =>
  tracer.startActiveSpan(name, (span) => work().finally(() => span.end()))

const holdfast = new Holdfast({ redis: process.env.REDIS_URL ?? 'redis://127.0.0.1:6379' })
const stock = holdfast.getLock('stock:42')
// Connects first, so that the spans do not include the time of the connection.
await stock.isLocked()
console.log('ready')
await once(process.stdin, 'data')

if (role === 'report') {
  await inSpan('GET /report', () =>
    stock.using(async () => {
      console.log('holds')
      await inSpan('SELECT sum(amount)', () => pause(900))
      await inSpan('render', () => pause(60))
    }),
  )
} else {
  await inSpan('POST /orders', async () => {
    await inSpan('SELECT customer', () => pause(40))
    await stock.using(() => inSpan('UPDATE stock', () => pause(30)))
    await inSpan('INSERT order', () => pause(50))
  })
}
await holdfast.close()
instrumentation.stop()
await provider.shutdown()
process.stdin.destroy()
