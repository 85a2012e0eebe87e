import {
  type Arrival,
  type Arrived,
  BARRIER,
  type BarrierFacts,
  type RemoteBarrier,
} from '../barrier-server.ts'
import { changeRecord, type OpenRecord, type RecordPart } from './open-record.ts'
import { isEmpty, sizeOf } from './plain-data.ts'
import type { RecordKind } from './record-kind.ts'
import {
  expireResults,
  forgetResults,
  newResults,
  resultOf,
  resultsUntilMs,
  type StoredResults,
  storeResult,
} from './stored-results.ts'

/** How long the outcome of an arrival is stored, in milliseconds. */
const OUTCOME_MS = 600_000

/** The state of one barrier. The functions below do the same as the scripts in `lua/barrier/`. */
interface BarrierState {
  /** When the lease of each arrival ends, by arrival id. Contains only the current round. */
  arrivals: { [id: string]: number }
  round: number
  parties: number
  readonly outcomes: StoredResults<'left' | 'passed'>
}

const WHAT = BARRIER.what

const PART: RecordPart<BarrierState> = {
  name: 'barrier',
  newState: () => ({ arrivals: {}, round: 0, parties: 0, outcomes: newResults() }),
  expire({ arrivals, outcomes }, nowMs) {
    for (const [id, endsMs] of Object.entries(arrivals)) if (endsMs < nowMs) delete arrivals[id]
    expireResults(outcomes, nowMs)
  },
  untilMs: (barrier) => Math.max(arrivalsUntilMs(barrier), resultsUntilMs(barrier.outcomes)),
  use(barrier) {
    if (isEmpty(barrier.arrivals)) return undefined
    return { what: WHAT, untilMs: arrivalsUntilMs(barrier) }
  },
}

function arrivalsUntilMs({ arrivals }: BarrierState): number {
  return Math.max(0, ...Object.values(arrivals))
}

/** Counts an arrival, or renews its lease. The last arrival ends the round. */
function arrive(record: OpenRecord, arrival: Arrival): Arrived {
  record.refuseOthers(WHAT)
  const { id, parties, leaseMs, round, answered } = arrival
  const barrier = record.part(PART)
  const outcome = resultOf(barrier.outcomes, id)
  forgetResults(barrier.outcomes, answered)
  if (outcome !== undefined) return { kind: outcome === 'passed' ? 'passed' : 'gone' }
  const isOpen = !isEmpty(barrier.arrivals)
  if (round !== '' && (!isOpen || round !== barrier.round)) return { kind: 'gone' }
  if (isOpen && parties !== barrier.parties) return { kind: 'other', parties: barrier.parties }
  if (!isOpen) {
    barrier.round = record.uniqueUs()
    barrier.parties = parties
  }
  barrier.arrivals[id] = record.nowMs + leaseMs
  const arrived = Object.keys(barrier.arrivals)
  if (arrived.length < parties) return { kind: 'waiting', round: barrier.round }
  for (const one of arrived) storeOutcome(record, one, 'passed')
  barrier.arrivals = {}
  record.publish(channelOf(record.rawName), String(barrier.round))
  return { kind: 'passed' }
}

function withdraw(record: OpenRecord, id: string): 'left' | 'passed' {
  record.refuseOthers(WHAT)
  const { arrivals, outcomes } = record.part(PART)
  const outcome = resultOf(outcomes, id)
  if (outcome !== undefined) return outcome
  delete arrivals[id]
  storeOutcome(record, id, 'left')
  return 'left'
}

function inspect(record: OpenRecord): BarrierFacts {
  record.refuseOthers(WHAT)
  const { arrivals, parties, round } = record.part(PART)
  const arrived = sizeOf(arrivals)
  return arrived === 0 ? { arrived, parties: null, round: null } : { arrived, parties, round }
}

function storeOutcome(record: OpenRecord, id: string, outcome: 'left' | 'passed'): void {
  storeResult(record.part(PART).outcomes, id, outcome, record.nowMs + OUTCOME_MS)
}

const channelOf = (rawName: string) => `barrier ${rawName}`

export const recordBarrier: RecordKind<(rawName: string) => RemoteBarrier> =
  ({ store }) =>
  (rawName) => {
    const change = <T>(callMs: number, verb: (record: OpenRecord) => T) =>
      changeRecord(store, rawName, callMs, verb)
    return {
      arrive: (arrival, callMs) => change(callMs, (record) => arrive(record, arrival)),
      withdraw: (id, callMs) => change(callMs, (record) => withdraw(record, id)),
      inspect: (callMs) => change(callMs, inspect),
      listen: (onEnded) =>
        store.listen(channelOf(rawName), (message) =>
          onEnded(message === undefined ? undefined : Number(message)),
        ),
    }
  }
