import { register as defaultRegister } from 'prom-client'
import { MOST_NAMES, type NameOf } from '../facts/name-groups.ts'
import { shown } from '../facts/shown.ts'
import type { AnyRegistry } from './catalogue.ts'
import { type Filled, fill } from './fill.ts'

/** What to tell Prometheus of locks, and where. */
export interface MetricsOptions {
  /** The registry that has them; by default `register` of `prom-client`, which has those of the whole process. */
  register?: AnyRegistry | undefined
  /** What their names begin with; `holdfast_` by default. The rules and the dashboard of the package are for that. */
  prefix?: string | undefined
  /**
   * The label `name` for the name of a lock; undefined leaves it out, as is the default. Give groups, such as `order`
   * for `order:1001`: each name is 20 to 60 series in Prometheus. What it throws counts as undefined.
   */
  nameOf?: ((name: string) => string | undefined) | undefined
  /** How many such names there may be; all after them are `other`. 100 by default. */
  mostNames?: number | undefined
}

/** What {@link collectMetrics} began. */
export interface Metrics {
  /** Takes the metrics out of the registry, unless others asked for the same and have not stopped. */
  stop(): void
}

/** What goes on in a registry, kept on its first metric: found by other copies of this module, and gone with it. */
interface Running {
  readonly filled: Filled
  users: number
  stop(): void
}

const RUNNING = Symbol.for('holdfast.metrics')

/**
 * Fills metrics of `prom-client` with what all clients of this process do from now on, until `stop()`: call it before
 * locks are held. A second call for the same registry and prefix shares the metrics of the first. A lock goes on as
 * without it, whatever becomes of metrics.
 *
 * Throws a `TypeError` for options that are none, and where a second call wants other names of locks than the first;
 * and what `prom-client` throws where the registry has a metric of another origin by such a name.
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
    `This registry has metrics with the prefix ${shown(filled.prefix)} already, with another nameOf or ` +
      'mostNames: collect them in one place, stop() them first, or give another prefix',
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
      `prefix must be letters, digits and _, and begin with no digit, got ${shown(prefix)}`,
    )
  }
  if (nameOf !== undefined && typeof nameOf !== 'function') {
    throw new TypeError(`nameOf must be a function, got ${shown(nameOf)}`)
  }
  if (!Number.isSafeInteger(mostNames) || mostNames < 1) {
    throw new TypeError(`mostNames must be a whole number from 1 up, got ${shown(mostNames)}`)
  }
  return { register, prefix, nameOf: nameOf as NameOf | undefined, mostNames }
}
