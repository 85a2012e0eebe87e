import { register as defaultRegister } from 'prom-client'
import { MOST_NAMES, type NameOf } from '../facts/name-groups.ts'
import { shown } from '../facts/shown.ts'
import type { AnyRegistry } from './catalogue.ts'
import { type Filled, fill } from './fill.ts'

/** The options of `collectMetrics`. */
export interface MetricsOptions {
  /**
   * The registry that receives the metrics. By default, `register` of `prom-client`: the registry
   * of the whole process.
   */
  register?: AnyRegistry | undefined
  /**
   * The prefix of the names of all metrics; `holdfast_` by default. The rules and the Grafana
   * dashboard of the package need the default.
   */
  prefix?: string | undefined
  /**
   * Returns the label `name` for the name of a lock. Return groups, such as `order` for
   * `order:1001`, because each name creates 20 to 60 series in Prometheus. Without a function, the
   * metrics have no label `name`. If the function returns undefined or throws, the metrics count
   * the lock without this label.
   */
  nameOf?: ((name: string) => string | undefined) | undefined
  /**
   * The largest number of different names that `nameOf` may return. The metrics report all further
   * names as `other`. 100 by default.
   */
  mostNames?: number | undefined
}

/** The result of {@link collectMetrics}. */
export interface Metrics {
  /**
   * Removes the metrics from the registry, unless another call of `collectMetrics` still uses them.
   */
  stop(): void
}

/**
 * The metrics of one registry and one prefix. The first metric has this object as a property, so
 * that other copies of this module find the object. The object disappears together with the metric.
 */
interface Running {
  readonly filled: Filled
  users: number
  stop(): void
}

const RUNNING = Symbol.for('holdfast.metrics')

/**
 * Creates metrics of `prom-client`, and fills them with the activity of all clients in this process
 * until `stop()`. Call this function before locks are held, because gauges do not count earlier
 * holds. A second call for the same registry and prefix shares the metrics of the first call. An
 * error in the metrics never affects a lock.
 *
 * Throws a `TypeError` for invalid options, and if a second call has another `nameOf` or
 * `mostNames` than the first call. Throws the error of `prom-client` if other code has registered a
 * metric with the same name.
 */
export function collectMetrics(options: MetricsOptions = {}): Metrics {
  const filled = resolve(options)
  const running = runningFor(filled) ?? start(filled)
  running.users += 1
  let stopped = false
  return {
    stop() {
      if (stopped) return
      stopped = true
      running.users -= 1
      if (running.users === 0) running.stop()
    },
  }
}

function start(filled: Filled): Running {
  const running: Running = { filled, users: 0, stop: fill(filled) }
  const first = firstMetric(filled)
  if (first !== undefined) first[RUNNING] = running
  return running
}

function runningFor(filled: Filled): Running | undefined {
  const running = firstMetric(filled)?.[RUNNING]
  if (running === undefined) return undefined
  const { nameOf, mostNames } = running.filled
  if (filled.nameOf === nameOf && filled.mostNames === mostNames) return running
  throw new TypeError(
    `This registry already has metrics with the prefix ${shown(filled.prefix)}, from a call of collectMetrics() ` +
      'with another nameOf or mostNames. Call collectMetrics() once, call stop() of the first call before the ' +
      'second call, or use another prefix.',
  )
}

function firstMetric({ register, prefix }: Filled): { [RUNNING]?: Running } | undefined {
  const metric: object | undefined = register.getSingleMetric(`${prefix}acquire_duration_seconds`)
  return metric
}

function resolve(options: MetricsOptions): Filled {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`collectMetrics() takes an object of options, got ${shown(options)}`)
  }
  const {
    register = defaultRegister,
    prefix = 'holdfast_',
    nameOf,
    mostNames = MOST_NAMES,
  } = options
  if (typeof register?.registerMetric !== 'function') {
    throw new TypeError(`register must be a Registry of prom-client, got ${shown(register)}`)
  }
  if (typeof prefix !== 'string' || !/^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(prefix)) {
    throw new TypeError(
      `prefix must consist of letters, digits and _, and not begin with a digit, got ${shown(prefix)}`,
    )
  }
  if (nameOf !== undefined && typeof nameOf !== 'function') {
    throw new TypeError(`nameOf must be a function, got ${shown(nameOf)}`)
  }
  if (!Number.isSafeInteger(mostNames) || mostNames < 1) {
    throw new TypeError(`mostNames must be a whole number of at least 1, got ${shown(mostNames)}`)
  }
  return { register, prefix, nameOf: nameOf as NameOf | undefined, mostNames }
}
