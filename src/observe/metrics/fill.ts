import type {
  AcquireFact,
  HoldFact,
  KeepFact,
  KindName,
  LockFact,
  OutageFact,
  RenewFact,
} from '../../index.ts'
import { LOSSES, lossOf } from '../facts/losses.ts'
import { cappedNameOf, type NameOf } from '../facts/name-groups.ts'
import { subscribe } from '../facts/subscribe.ts'
import { UnderWay } from '../facts/under-way.ts'
import { type Ages, type AnyRegistry, newCatalogue } from './catalogue.ts'

export interface Filled {
  readonly register: AnyRegistry
  readonly prefix: string
  readonly nameOf: NameOf | undefined
  readonly mostNames: number
}

type Labels = Record<string, string>

/** The kinds of locks that have holds. Permits of `getSemaphore` have no hold. */
const KINDS: readonly KindName[] = ['lock', 'fair', 'read', 'write', 'upgradable', 'permits']

/**
 * Creates the metrics, and fills them with the activity of all clients in this process.
 *
 * @returns a function that stops the collection and removes the metrics
 */
export function fill({ register, prefix, nameOf, mostNames }: Filled): () => void {
  const calls = new UnderWay<AcquireFact, Labels>()
  const holds = new UnderWay<HoldFact, Labels>()
  const kept = new UnderWay<KeepFact, Labels>()
  const renewals = new UnderWay<RenewFact, undefined>()
  const outages = new UnderWay<OutageFact, Labels>()

  // Equal labels must be one object, because `UnderWay` counts the operations of each object. The
  // limit of names also limits the number of these objects.
  const seen = new Map<string, Labels>()
  const servers = new Map<string, Labels>()
  const agesOf = (underWay: UnderWay<object, Labels>, all = seen): Ages =>
    function* ages() {
      const counts = underWay.counts()
      for (const labels of all.values()) {
        const { count, oldest } = counts.get(labels) ?? { count: 0, oldest: 0 }
        yield [labels, count, oldest]
      }
    }
  const now = {
    holds: agesOf(holds),
    waits: agesOf(calls),
    kept: agesOf(kept),
    outages: agesOf(outages, servers),
  }
  const metrics = newCatalogue(register, prefix, nameOf !== undefined, now)

  // Prometheus does not count the first value of a new series as an increase. So each series of
  // losses begins with 0, and an alert notices the first loss.
  const noLosses = (labels: Labels) => {
    for (const reason of LOSSES) metrics.losses.inc({ ...labels, reason }, 0)
  }
  for (const kind of KINDS) noLosses({ kind })
  const kinds = new Set<KindName>()

  const group = cappedNameOf(nameOf, mostNames, () => metrics.otherNames.inc())
  const labelsOf = ({ kind, name: lock }: LockFact): Labels => {
    const name = group(lock)
    const key = name === undefined ? kind : `${kind} ${name}`
    const known = seen.get(key)
    if (known !== undefined) return known
    const labels: Labels = name === undefined ? { kind } : { kind, name }
    seen.set(key, labels)
    noLosses(labels)
    if (!kinds.has(kind)) metrics.acquireDuration.zero({ kind, outcome: 'outage' })
    kinds.add(kind)
    return labels
  }

  const unsubscribe = subscribe({
    acquire: {
      start: (fact) => calls.started(fact, labelsOf(fact)),
      finish(fact) {
        const { outcome, path, waitedMs } = fact
        const call = calls.finished(fact)
        if (outcome === undefined || waitedMs === undefined) return
        // An outage concerns Redis and not one lock, so its labels contain no name.
        const of = outcome === 'outage' ? { kind: fact.kind } : (call?.labels ?? labelsOf(fact))
        const labels = { ...of, outcome, ...(path && { path }) }
        metrics.acquireDuration.observe(labels, waitedMs / 1_000)
      },
    },
    hold: {
      start: (fact) => holds.started(fact, labelsOf(fact)),
      finish(fact) {
        const { outcome, heldMs, stalledMs } = fact
        const hold = holds.finished(fact)
        if (outcome === undefined || heldMs === undefined) return
        const labels = hold?.labels ?? labelsOf(fact)
        metrics.holdDuration.observe({ ...labels, outcome }, heldMs / 1_000)
        const reason = lossOf(fact)
        if (reason === undefined) return
        metrics.losses.inc({ ...labels, reason })
        if (stalledMs !== undefined) metrics.stallDuration.observe(stalledMs / 1_000)
      },
    },
    keep: {
      start: (fact) => kept.started(fact, labelsOf(fact)),
      finish: (fact) => void kept.finished(fact),
    },
    renew: {
      start(fact) {
        renewals.started(fact, undefined)
        metrics.renewLateness.observe(fact.latenessMs / 1_000)
      },
      finish(fact) {
        const renewal = renewals.finished(fact)
        if (renewal === undefined) return
        const outcome = fact.error === undefined ? 'renewed' : 'failed'
        metrics.renewDuration.observe({ outcome }, renewal.seconds)
      },
    },
    outage: {
      start(fact) {
        const { address } = fact
        const labels = servers.get(address) ?? { address }
        // The series begins with 0, so that Prometheus counts the end of the first outage as an
        // increase.
        if (!servers.has(address)) metrics.outageDuration.zero(labels)
        servers.set(address, labels)
        outages.started(fact, labels)
        metrics.outagesTotal.inc(labels)
      },
      finish(fact) {
        const outage = outages.finished(fact)
        if (outage === undefined || fact.outcome !== 'recovered') return
        metrics.outageDuration.observe(outage.labels, (fact.outageMs ?? 0) / 1_000)
      },
    },
    settled: ({ unknownMs }) => metrics.unknownDuration.observe(unknownMs / 1_000),
  })
  return () => {
    unsubscribe()
    metrics.remove()
  }
}
