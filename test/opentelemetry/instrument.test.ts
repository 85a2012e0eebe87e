import {
  type Meter,
  type MeterProvider,
  metrics,
  type TracerProvider,
  trace,
} from '@opentelemetry/api'
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base'
import { instrument } from '../../src/observe/opentelemetry/opentelemetry.ts'
import { createMemoryServer } from '../../src/testing.ts'
import {
  acquireTrace,
  acquiring,
  holding,
  holdTrace,
  MemoryNotes,
  releaseTrace,
  renewing,
  renewTrace,
} from './told.ts'

test.each([
  [{ nameof: () => 'x' }, 'There is no option `nameof` here. There are: tracerProvider'],
  [{ constructor: 1 }, 'There is no option `constructor` here'],
  [{ nameOf: 'order' }, "`nameOf` is invalid for instrument(); got 'order'."],
  [{ spans: 0 }, '`spans` is invalid for instrument(); got 0.'],
  [{ tracerProvider: {} }, '`tracerProvider` is invalid for instrument(); got an object.'],
  [{ meterProvider: null }, '`meterProvider` is invalid for instrument(); got null.'],
  [null, 'instrument() takes an object with tracerProvider'],
])('instrument() refuses %p', (options, message) => {
  expect(() => instrument(options as never)).toThrow(TypeError)
  expect(() => instrument(options as never)).toThrow(message)
})

test('instrument() without an SDK makes no active span and writes no note, and stop() ends its subscriptions', () => {
  const channels = [acquireTrace, holdTrace, releaseTrace, renewTrace]
  const areHeard = () => channels.map(({ start }) => start.hasSubscribers)
  const { stop } = instrument()
  expect(areHeard()).toEqual([true, true, true, true])
  const notes = new MemoryNotes()
  const acquired = acquiring()
  const held = holding({ notes })
  expect(trace.getActiveSpan()).toBeUndefined()
  acquired({ outcome: 'granted' })
  held({ outcome: 'released' })
  expect(notes.told).toEqual([])
  stop()
  stop()
  expect(areHeard()).toEqual([false, false, false, false])
})

test('instrument() uses the global providers, and a provider of spans may come later', async () => {
  const ended: string[] = []
  const { stop } = instrument()
  const provider = new BasicTracerProvider({
    spanProcessors: [
      {
        onStart() {},
        onEnd: ({ name }) => void ended.push(name),
        forceFlush: async () => undefined,
        shutdown: async () => undefined,
      },
    ],
  })
  trace.setGlobalTracerProvider(provider)
  acquiring()({ outcome: 'granted' })
  stop()
  trace.disable()
  metrics.disable()
  expect(ended).toEqual(['holdfast.acquire'])
})

const fail = (): never => {
  throw new Error('a provider that fails')
}
const failing = new Proxy({}, { get: () => fail })
const throwing = {
  tracerProvider: { getTracer: () => failing } as unknown as TracerProvider,
  meterProvider: {
    getMeter: (): Meter =>
      ({
        createHistogram: () => failing,
        createCounter: () => failing,
        createObservableGauge: () => failing,
        createObservableUpDownCounter: () => failing,
        addBatchObservableCallback() {},
        removeBatchObservableCallback() {},
      }) as unknown as Meter,
  } as MeterProvider,
}

describe('failing providers', () => {
  const useLocks = async () => {
    const client = createMemoryServer().newClient()
    const lock = client.getLock('order:1001')
    const lease = await lock.lock()
    expect(await lock.tryLock()).toBeNull()
    const next = lock.lock()
    await lease.release()
    await (await next).release()
    await client.close()
  }

  test('locks work with providers that always throw', async () => {
    const { stop } = instrument(throwing)
    acquiring()({ outcome: 'granted' })
    holding()({ outcome: 'expired' })
    renewing()({})
    await useLocks()
    stop()
  })

  test('locks work with an exporter that never answers', async () => {
    const exporter: SpanExporter = { export() {}, shutdown: async () => undefined }
    const processor = new BatchSpanProcessor(exporter, {
      scheduledDelayMillis: 1,
      exportTimeoutMillis: 50,
    })
    const { stop } = instrument({
      tracerProvider: new BasicTracerProvider({ spanProcessors: [processor] }),
    })
    await useLocks()
    stop()
    await expect(processor.shutdown()).rejects.toThrow('Timeout')
  })
})
