import {
  Counter,
  Gauge,
  Histogram,
  type OpenMetricsContentType,
  type PrometheusContentType,
  type Registry,
} from 'prom-client'
import { HOLDS, REQUESTS, WAITS } from '../facts/buckets.ts'

/** A registry of `prom-client`, in one of its two formats. */
export type AnyRegistry = Registry<PrometheusContentType> | Registry<OpenMetricsContentType>

/** The bounds of histograms about outages, stalls and unknown outcomes, in seconds. */
const OUTAGES = [0.1, 0.5, 1, 5, 10, 30, 60, 300]

/**
 * Called at each scrape. Yields one entry for each set of labels: the labels, the number of
 * operations under way, and the age of the oldest operation in seconds.
 */
export type Ages = () => Iterable<readonly [Record<string, string>, number, number]>

/** The values that each scrape reads. */
interface Now {
  readonly holds: Ages
  readonly waits: Ages
  readonly kept: Ages
  readonly outages: Ages
}

/**
 * Creates all metrics in the registry. If the registry already has a metric with one of the names,
 * throws and adds no metric.
 */
export function newCatalogue(register: AnyRegistry, prefix: string, hasNames: boolean, now: Now) {
  const made = new Map<string, unknown>()
  const own = (name: string, help: string, ...labelNames: string[]) => {
    const config = { name: prefix + name, help, labelNames, registers: [register] }
    // If the registry already has the name, the constructor of the metric throws before this call.
    // So `remove` never removes a metric of other code.
    const remember = <M>(metric: M): M => {
      made.set(config.name, metric)
      return metric
    }
    return {
      histogram: (buckets: number[]) => remember(new Histogram({ ...config, buckets })),
      counter: () => remember(new Counter(config)),
      gauge: (ages: Ages, isAge: boolean) => {
        const collect = guarded(() => {
          gauge.reset()
          for (const [labels, count, oldest] of ages()) gauge.set(labels, isAge ? oldest : count)
        })
        const gauge = new Gauge({ ...config, aggregator: isAge ? 'max' : 'sum', collect })
        return remember(gauge)
      },
    }
  }
  const of = hasNames ? ['kind', 'name'] : ['kind']
  const remove = () => {
    for (const [name, metric] of made) {
      // Other code may have replaced the metric by its own metric with this name.
      if (register.getSingleMetric(name) === metric) register.removeSingleMetric(name)
    }
  }
  const make = () => ({
    acquireDuration: own(
      'acquire_duration_seconds',
      'From a call to acquire to its lease, null or error',
      ...of,
      'outcome',
      'path',
    ).histogram(WAITS),
    holdDuration: own(
      'hold_duration_seconds',
      'From a grant to the last release, or the loss',
      ...of,
      'outcome',
    ).histogram(HOLDS),
    held: own('lock_held', 'Holds of this process', ...of).gauge(now.holds, false),
    kept: own('lock_kept', 'Locks that this process keeps, not in use', ...of).gauge(
      now.kept,
      false,
    ),
    waiting: own('lock_waiting', 'Calls to acquire that have no outcome yet', ...of).gauge(
      now.waits,
      false,
    ),
    oldestHold: own('hold_oldest_age_seconds', 'Age of the oldest hold now', ...of).gauge(
      now.holds,
      true,
    ),
    oldestWait: own(
      'wait_oldest_age_seconds',
      'Age of the oldest call to acquire that has no outcome yet',
      ...of,
    ).gauge(now.waits, true),
    losses: own('losses_total', 'Holds that ended before their release', ...of, 'reason').counter(),
    stallDuration: own(
      'stall_duration_seconds',
      'Stalls of the event loop that cost a lease',
    ).histogram(OUTAGES),
    renewDuration: own(
      'renew_duration_seconds',
      'Requests of the watchdog, each for many holds',
      'outcome',
    ).histogram(REQUESTS),
    renewLateness: own(
      'renew_lateness_seconds',
      'How late requests of the watchdog were sent',
    ).histogram(REQUESTS),
    unknownDuration: own(
      'unknown_duration_seconds',
      'How long outcomes were unknown before they were settled',
    ).histogram(OUTAGES),
    outages: own(
      'server_outages',
      'Servers that clients of this process cannot reach now',
      'address',
    ).gauge(now.outages, false),
    outagesTotal: own(
      'server_outages_total',
      'Outages of servers that have begun',
      'address',
    ).counter(),
    outageDuration: own(
      'server_outage_duration_seconds',
      'From the first failure to the answer of a server that has recovered',
      'address',
    ).histogram(OUTAGES),
    otherNames: own(
      'other_names_total',
      'Calls and holds that are reported under the name other, because there are too many names',
    ).counter(),
    remove,
  })
  try {
    return make()
  } catch (error) {
    remove()
    throw error
  }
}

/**
 * Ignores the errors of `collect`, because the same scrape also reads metrics of other libraries.
 */
function guarded(collect: () => void): () => void {
  return () => {
    try {
      collect()
    } catch {
      // This scrape then contains no values of the metric.
    }
  }
}
