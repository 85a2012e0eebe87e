// Measures the cost of spans and metrics for each acquisition of a free lock with its release. Runs with and without
// them take turns. Run `npm run build`, then `node bench/probes/opentelemetry/cost.mjs [acquisitions] [rounds]`.
import { context } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { Holdfast } from '../../../dist/esm/src/index.js'
import { instrument } from '../../../dist/esm/src/observe/opentelemetry/opentelemetry.js'
import { startServer } from '../../support/support.mjs'

const acquisitions = Number(process.argv[2] ?? 2_000)
const rounds = Number(process.argv[3] ?? 15)

const server = await startServer()
const client = new Holdfast({ redis: server.url })
const lock = client.getLock('cost')
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())

// This exporter only counts the spans, and drops them.
let exported = 0
const exporter = {
  export(spans, done) {
    exported += spans.length
    done({ code: 0 })
  },
  shutdown: async () => {},
}
const spanProcessors = [new BatchSpanProcessor(exporter, { maxQueueSize: 1e6 })]
const tracerProvider = new BasicTracerProvider({ spanProcessors })
const reader = new PeriodicExportingMetricReader({
  exporter: new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE),
  exportIntervalMillis: 3_600_000,
})
const meterProvider = new MeterProvider({ readers: [reader] })

const ways = {
  none: undefined,
  'no SDK': {},
  metrics: { spans: false, meterProvider },
  spans: { metrics: false, tracerProvider },
  both: { tracerProvider, meterProvider },
}

async function measure(options) {
  const instrumentation = options && instrument(options)
  const cpu = process.cpuUsage()
  const start = performance.now()
  for (let i = 0; i < acquisitions; i++) await (await lock.lock()).release()
  const elapsedUs = (performance.now() - start) * 1_000
  const { user, system } = process.cpuUsage(cpu)
  instrumentation?.stop()
  await tracerProvider.forceFlush()
  return { elapsedUs: elapsedUs / acquisitions, cpuUs: (user + system) / acquisitions }
}

const figures = Object.fromEntries(Object.keys(ways).map((way) => [way, []]))
await measure()
await measure(ways.both)
for (let round = 0; round < rounds; round++) {
  for (const [way, options] of Object.entries(ways)) figures[way].push(await measure(options))
}

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)]
console.log(`${acquisitions} acquisitions in each of ${rounds} turns; medians, for each`)
for (const [way, turns] of Object.entries(figures)) {
  const elapsed = median(turns.map(({ elapsedUs }) => elapsedUs))
  const cpu = median(turns.map(({ cpuUs }) => cpuUs))
  console.log(`${way.padEnd(8)} ${elapsed.toFixed(1)} µs, CPU ${cpu.toFixed(1)} µs`)
}
if (exported === 0) throw new Error('no span was made')

await client.close()
await server.stop()
await tracerProvider.shutdown()
await meterProvider.shutdown()
