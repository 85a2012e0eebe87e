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

/** The options of `instrument`. */
export interface InstrumentOptions {
  /**
   * The provider that creates the spans. By default, the global provider, which may be registered
   * later.
   */
  tracerProvider?: TracerProvider | undefined
  /**
   * The provider that creates the metrics. By default, the global provider, which must be
   * registered before `instrument` is called.
   */
  meterProvider?: MeterProvider | undefined
  /**
   * Returns the attribute `holdfast.lock.name` for the name of a lock. Your function should return
   * the name of a group of locks, such as `order` for `order:1001`. If the function is missing,
   * returns undefined or throws, the spans and metrics of the lock lack the attribute. Metrics use
   * the first 100 different results, and `other` for each later new result.
   */
  nameOf?: ((name: string) => string | undefined) | undefined
  /** False to create no spans. True by default. */
  spans?: boolean | undefined
  /** False to create no metrics. True by default. */
  metrics?: boolean | undefined
}

/** The result of {@link instrument}. */
export interface Instrumentation {
  /**
   * Ends the reports. Delayed spans end at once, so call `stop` before you shut down the provider.
   * The spans of holds and calls that are under way are never exported.
   */
  stop(): void
}

/**
 * Reports all locks of this process to OpenTelemetry from now on. An error in this module, in a
 * provider, in an exporter or in `nameOf` never affects a lock. Call this function once: a second
 * call reports everything twice, until `stop()` of its result.
 *
 * @throws TypeError for invalid options
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
      for (const stop of endings.splice(0)) stop()
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

// This module imports no errors of the core, because the core loads ioredis. Users must be able to
// load this module before they register the instrumentation of ioredis.
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
      throw new TypeError(`\`${name}\` is invalid for instrument(); got ${shown(value)}.`)
    }
  }
  return options
}
