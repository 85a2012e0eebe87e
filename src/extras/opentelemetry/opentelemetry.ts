import {
  metrics as globalMetrics,
  trace as globalTrace,
  type MeterProvider,
  type TracerProvider,
} from '@opentelemetry/api'
import { cappedNameOf, guardedNameOf } from '../facts/name-groups.ts'
import { shown } from '../facts/shown.ts'
import { measureLocks } from './measurements.ts'
import { traceLocks } from './spans.ts'

/** What to tell of locks, and to whom. */
export interface InstrumentOptions {
  /** Makes the spans; the global one by default, which may be registered later. */
  tracerProvider?: TracerProvider | undefined
  /** Makes the metrics; the global one by default, which has to be registered before. */
  meterProvider?: MeterProvider | undefined
  /**
   * The name to tell for that of a lock, as `holdfast.lock.name`; undefined tells none, which is the default. Give
   * groups, such as `order` for `order:1001`: metrics take the first 100 of them, and `other` for the rest.
   */
  nameOf?: ((name: string) => string | undefined) | undefined
  /** Whether there are spans; true by default. */
  spans?: boolean | undefined
  /** Whether there are metrics; true by default. */
  metrics?: boolean | undefined
}

/** What {@link instrument} began. */
export interface Instrumentation {
  /**
   * Ends it. Spans whose end was held back end at once: call it before the provider is shut down. Those of holds and
   * calls that are under way are dropped.
   */
  stop(): void
}

/**
 * Tells OpenTelemetry of all locks of this process, from now on. What fails in it, or in a provider, an exporter or
 * `nameOf` later on, changes nothing for a lock. Call it once: a second call tells everything twice, until its `stop()`.
 *
 * @throws TypeError for options that are none
 */
export function instrument(options: InstrumentOptions = {}): Instrumentation {
  const { tracerProvider, meterProvider, nameOf, spans = true, metrics = true } = check(options)
  const endings: (() => void)[] = []
  if (spans) {
    const tracer = (tracerProvider ?? globalTrace).getTracer('holdfast')
    endings.push(traceLocks(tracer, guardedNameOf(nameOf)))
  }
  if (metrics) {
    const meter = (meterProvider ?? globalMetrics).getMeter('holdfast')
    endings.push(measureLocks(meter, cappedNameOf(nameOf)))
  }
  return {
    stop() {
      for (const end of endings.splice(0)) end()
    },
  }
}

const shapes: { readonly [K in keyof Required<InstrumentOptions>]: (value: unknown) => boolean } = {
  tracerProvider: (value) => typeof (value as TracerProvider | null)?.getTracer === 'function',
  meterProvider: (value) => typeof (value as MeterProvider | null)?.getMeter === 'function',
  nameOf: (value) => typeof value === 'function',
  spans: (value) => typeof value === 'boolean',
  metrics: (value) => typeof value === 'boolean',
}

// No error of the core: this is loaded before whatever instruments ioredis, and the core would load that.
function check(options: InstrumentOptions): InstrumentOptions {
  const known = Object.keys(shapes).join(', ')
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`instrument() takes an object with ${known}; got ${shown(options)}.`)
  }
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(shapes, name)) {
      throw new TypeError(`There is no option \`${name}\` here. There are: ${known}.`)
    }
    if (value !== undefined && !shapes[name as keyof InstrumentOptions](value)) {
      throw new TypeError(`\`${name}\` is of no use to instrument(); got ${shown(value)}.`)
    }
  }
  return options
}
