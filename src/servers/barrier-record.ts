import type { Arrival, Arrived, BarrierFacts, RemoteBarrier } from './barrier-server.ts'
import type { KindRecord, ServerKind, ServerMoment } from './server-kind.ts'

/** How long the outcome of an arrival is stored, in milliseconds. */
const SETTLED_MS = 600_000

/** The answer to an arrival, and the round that the arrival has ended, if it was the last one. */
interface Outcome {
  readonly arrived: Arrived
  readonly ended?: number
}

/** The state of one barrier, on a server without scripts. It changes as `lua/barrier/` changes Redis. */
export class BarrierRecord implements KindRecord {
  /** When the lease of each arrival of the current round ends, by the id of the arrival. */
  readonly #arrivals = new Map<string, number>()
  readonly #settled = new Map<
    string,
    { readonly how: 'left' | 'passed'; readonly untilMs: number }
  >()
  #round = 0
  #parties = 0

  expire(nowMs: number): void {
    for (const [id, endsMs] of this.#arrivals) if (endsMs < nowMs) this.#arrivals.delete(id)
    for (const [id, { untilMs }] of this.#settled) if (untilMs < nowMs) this.#settled.delete(id)
  }

  get usesName(): boolean {
    return this.#arrivals.size > 0
  }

  get isForgotten(): boolean {
    return this.#arrivals.size + this.#settled.size === 0
  }

  arrive(arrival: Arrival, { nowMs, uniqueUs }: ServerMoment): Outcome {
    const { id, parties, leaseMs, round, answered } = arrival
    const outcome = this.#settled.get(id)
    for (const one of answered) this.#settled.delete(one)
    if (outcome !== undefined)
      return { arrived: { kind: outcome.how === 'passed' ? 'passed' : 'gone' } }
    const isOpen = this.#arrivals.size > 0
    if (round !== '' && (!isOpen || round !== this.#round)) return { arrived: { kind: 'gone' } }
    if (isOpen && parties !== this.#parties)
      return { arrived: { kind: 'other', parties: this.#parties } }
    if (!isOpen) {
      this.#round = uniqueUs()
      this.#parties = parties
    }
    this.#arrivals.set(id, nowMs + leaseMs)
    if (this.#arrivals.size < parties) return { arrived: { kind: 'waiting', round: this.#round } }
    for (const one of this.#arrivals.keys()) this.#finish(one, 'passed', nowMs)
    this.#arrivals.clear()
    return { arrived: { kind: 'passed' }, ended: this.#round }
  }

  withdraw(id: string, nowMs: number): 'left' | 'passed' {
    const outcome = this.#settled.get(id)
    if (outcome !== undefined) return outcome.how
    this.#arrivals.delete(id)
    this.#finish(id, 'left', nowMs)
    return 'left'
  }

  get facts(): BarrierFacts {
    const arrived = this.#arrivals.size
    if (arrived === 0) return { arrived, parties: null, round: null }
    return { arrived, parties: this.#parties, round: this.#round }
  }

  #finish(id: string, how: 'left' | 'passed', nowMs: number): void {
    this.#settled.set(id, { how, untilMs: nowMs + SETTLED_MS })
  }
}

export const BARRIER: ServerKind<RemoteBarrier> = {
  name: 'barrier',
  what: 'a cyclic barrier',
  onRecords(store, rawName) {
    const newRecord = () => new BarrierRecord()
    return {
      arrive: (arrival) =>
        store.transact(BARRIER, rawName, newRecord, (record, moment) => {
          const { arrived, ended } = record.arrive(arrival, moment)
          if (ended !== undefined) store.publish(BARRIER, rawName, String(ended))
          return arrived
        }),
      withdraw: (id) =>
        store.transact(BARRIER, rawName, newRecord, (record, { nowMs }) =>
          record.withdraw(id, nowMs),
        ),
      inspect: () => store.transact(BARRIER, rawName, newRecord, (record) => record.facts),
      listen: (onWake) => store.listen(BARRIER, rawName, onWake),
    }
  },
}
