import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  type DataPoint,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import {
  type InstrumentOptions,
  instrument,
} from '../../src/observe/opentelemetry/opentelemetry.ts'

type Value = number | Histogram

/** The real SDK with exporters in memory, connected to `instrument`. */
export class Rig {
  readonly #spans = new InMemorySpanExporter()
  readonly #metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  readonly #reader = new PeriodicExportingMetricReader({
    exporter: this.#metrics,
    exportIntervalMillis: 3_600_000,
  })
  readonly tracerProvider: BasicTracerProvider
  readonly meterProvider = new MeterProvider({ readers: [this.#reader] })
  readonly #instrumentation: { stop(): void }

  constructor({ sampler, ...options }: InstrumentOptions & { sampler?: Sampler } = {}) {
    const spanProcessors = [new SimpleSpanProcessor(this.#spans)]
    this.tracerProvider = new BasicTracerProvider({ spanProcessors, ...(sampler && { sampler }) })
    const { tracerProvider, meterProvider } = this
    this.#instrumentation = instrument({ tracerProvider, meterProvider, ...options })
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  }

  /** Runs work inside a span of the user. */
  inSpan<T>(name: string, work: () => T): T {
    const span = this.tracerProvider.getTracer('test').startSpan(name)
    try {
      return context.with(trace.setSpan(context.active(), span), work)
    } finally {
      span.end()
    }
  }

  /** The spans that have ended. */
  get spans(): ReadableSpan[] {
    return this.#spans.getFinishedSpans()
  }

  span(name: string): ReadableSpan {
    const found = this.spans.filter((span) => span.name === name)
    if (found.length !== 1) throw new Error(`${found.length} spans have the name ${name}`)
    return found[0] as ReadableSpan
  }

  /** Returns the points of each metric until now. */
  async metrics(): Promise<Map<string, DataPoint<Value>[]>> {
    await this.#reader.forceFlush()
    const [last] = this.#metrics.getMetrics().slice(-1)
    const metrics = last?.scopeMetrics.flatMap((scope) => scope.metrics) ?? []
    return new Map(
      metrics.map(({ descriptor, dataPoints }) => [
        descriptor.name,
        dataPoints as DataPoint<Value>[],
      ]),
    )
  }

  stop(): void {
    this.#instrumentation.stop()
  }

  async end(): Promise<void> {
    this.stop()
    context.disable()
    await this.meterProvider.shutdown()
    await this.tracerProvider.shutdown()
  }
}

/** Returns the names of the spans that a span is linked to, with the attribute `holdfast.link` of each link. */
export function linksOf(span: ReadableSpan, among: readonly ReadableSpan[]): unknown[] {
  return span.links.map(({ context: { spanId }, attributes }) => [
    attributes?.['holdfast.link'],
    among.find((one) => one.spanContext().spanId === spanId)?.name,
  ])
}
