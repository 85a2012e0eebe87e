import type { Attributes, BatchObservableCallback, Meter, MetricOptions } from '@opentelemetry/api'
import type { AcquireFact, HoldFact, KeepFact, LockFact, RenewFact } from '../../index.ts'
import { HOLDS, REQUESTS, WAITS } from '../facts/buckets.ts'
import { lossOf } from '../facts/losses.ts'
import type { NameOf } from '../facts/name-groups.ts'
import { subscribe } from '../facts/subscribe.ts'
import { UnderWay } from '../facts/under-way.ts'
import { ATTRIBUTES, errorType, failureOf } from './attributes.ts'

/**
 * Measures all locks of this process.
 *
 * @returns a function that ends the measurements
 */
export function measureLocks(meter: Meter, nameOf: NameOf): () => void {
  const duration = (name: string, description: string, explicitBucketBoundaries: number[]) =>
    meter.createHistogram(name, { description, unit: 's', advice: { explicitBucketBoundaries } })
  const acquireDuration = duration(
    'holdfast.acquire.duration',
    'From a call to its lease, null or error',
    WAITS,
  )
  const holdDuration = duration(
    'holdfast.hold.duration',
    'From a grant to the last release, or the loss',
    HOLDS,
  )
  const renewDuration = duration('holdfast.renew.duration', 'Requests of the watchdog', REQUESTS)
  const renewLateness = duration('holdfast.renew.lateness', 'How late renewals are sent', REQUESTS)

  const options = (unit: string, description: string): MetricOptions => ({ unit, description })
  const losses = meter.createCounter(
    'holdfast.losses',
    options('{loss}', 'Leases that ended before their release'),
  )
  const stalls = meter.createCounter(
    'holdfast.stalls',
    options('{stall}', 'Losses because the event loop was blocked'),
  )
  const settled = meter.createCounter(
    'holdfast.settled',
    options('{request}', 'Requests whose unknown outcome was settled'),
  )
  const held = meter.createObservableUpDownCounter(
    'holdfast.lock.held',
    options('{hold}', 'Holds of this process'),
  )
  const waiting = meter.createObservableUpDownCounter(
    'holdfast.lock.waiting',
    options('{call}', 'Calls to acquire that have no outcome yet'),
  )
  const kept = meter.createObservableUpDownCounter(
    'holdfast.lock.kept',
    options('{lock}', 'Locks that this process keeps, not in use'),
  )
  const oldestHold = meter.createObservableGauge(
    'holdfast.hold.oldest_age',
    options('s', 'Age of the oldest hold of this process'),
  )
  const oldestWait = meter.createObservableGauge(
    'holdfast.wait.oldest_age',
    options('s', 'Age of the oldest call that has no outcome yet'),
  )

  // `UnderWay` counts the operations of each labels object, so equal labels must be one object.
  const labels = new Map<string, Attributes>()
  const labelsOf = ({ kind, name }: LockFact): Attributes => {
    const group = nameOf(name)
    const key = group === undefined ? kind : `${kind} ${group}`
    const known = labels.get(key)
    if (known !== undefined) return known
    const own = {
      [ATTRIBUTES.kind]: kind,
      ...(group !== undefined && { [ATTRIBUTES.name]: group }),
    }
    labels.set(key, own)
    return own
  }

  const calls = new UnderWay<AcquireFact, Attributes>()
  const holds = new UnderWay<HoldFact, Attributes>()
  const keeping = new UnderWay<KeepFact, Attributes>()
  const renewals = new UnderWay<RenewFact, undefined>()
  const unsubscribe = subscribe({
    acquire: {
      start: (fact) => calls.started(fact, labelsOf(fact)),
      finish(fact) {
        const call = calls.finished(fact)
        if (call === undefined) return
        const failure = failureOf(fact)
        acquireDuration.record(seconds(fact.waitedMs) ?? call.seconds, {
          ...call.labels,
          ...(fact.outcome && { [ATTRIBUTES.outcome]: fact.outcome }),
          ...(fact.path && { [ATTRIBUTES.path]: fact.path }),
          ...(failure && { [ATTRIBUTES.errorType]: failure }),
        })
      },
    },
    hold: {
      start: (fact) => holds.started(fact, labelsOf(fact)),
      finish(fact) {
        const hold = holds.finished(fact)
        if (hold === undefined) return
        const outcome = fact.outcome && { [ATTRIBUTES.holdOutcome]: fact.outcome }
        holdDuration.record(seconds(fact.heldMs) ?? hold.seconds, { ...hold.labels, ...outcome })
        const reason = lossOf(fact)
        if (reason === undefined) return
        losses.add(1, { ...hold.labels, [ATTRIBUTES.lossReason]: reason })
        if (fact.stalledMs !== undefined) stalls.add(1, hold.labels)
      },
    },
    keep: {
      start: (fact) => keeping.started(fact, labelsOf(fact)),
      finish: (fact) => void keeping.finished(fact),
    },
    renew: {
      start(fact) {
        renewals.started(fact, undefined)
        renewLateness.record(fact.latenessMs / 1_000)
      },
      finish(fact) {
        const renewal = renewals.finished(fact)
        if (renewal === undefined) return
        const failed = fact.error !== undefined
        renewDuration.record(
          renewal.seconds,
          failed ? { [ATTRIBUTES.errorType]: errorType(fact.error) } : {},
        )
      },
    },
    settled: () => settled.add(1),
  })

  const observables = [held, waiting, kept, oldestHold, oldestWait]
  const observe: BatchObservableCallback = (result) => {
    const observed = [
      [holds.counts(), held, oldestHold],
      [calls.counts(), waiting, oldestWait],
    ] as const
    for (const [counts, number, oldest] of observed) {
      // Labels without operations report 0. Otherwise a graph would keep the last value of these
      // labels.
      for (const each of labels.values()) {
        const one = counts.get(each)
        result.observe(number, one?.count ?? 0, each)
        result.observe(oldest, one?.oldest ?? 0, each)
      }
    }
    const counts = keeping.counts()
    for (const each of labels.values()) result.observe(kept, counts.get(each)?.count ?? 0, each)
  }
  meter.addBatchObservableCallback(observe, observables)
  return () => {
    unsubscribe()
    meter.removeBatchObservableCallback(observe, observables)
  }
}

function seconds(ms: number | undefined): number | undefined {
  return ms && ms / 1_000
}
