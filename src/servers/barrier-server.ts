import type { Subscription } from './subscription.ts'

/** One cyclic barrier of a server. A failed call rejects with a `CallFailure`, within its `callMs`. */
export interface RemoteBarrier {
  /** Counts an arrival, or renews its lease. All requests of one arrival have the same id. */
  arrive(arrival: Arrival, callMs: number): Promise<Arrived>
  /**
   * Takes an arrival back. Answers `passed` if the round is over, because all parties had arrived.
   */
  withdraw(id: string, callMs: number): Promise<'left' | 'passed'>
  inspect(callMs: number): Promise<BarrierFacts>
  /**
   * Calls `onEnded` with the number of each round that ends, and without a number when messages may
   * have been missed. `onEnded` is also called once after the subscription begins.
   */
  listen(onEnded: (round?: number) => void): Subscription
}

export interface Arrival {
  /** The id of this arrival. No other arrival has this id. */
  readonly id: string
  readonly parties: number
  readonly leaseMs: number
  /** The only round in which the arrival counts; '' is the current round. */
  readonly round: number | ''
  /** The ids of earlier arrivals whose outcomes the client knows. */
  readonly answered: readonly string[]
}

export type Arrived =
  | { readonly kind: 'waiting'; readonly round: number }
  /** All parties had arrived. */
  | { readonly kind: 'passed' }
  /**
   * The arrival does not count, because it was withdrawn, or because its lease ended before all
   * parties had arrived.
   */
  | { readonly kind: 'gone' }
  /** The round has another number of parties. */
  | { readonly kind: 'other'; readonly parties: number }

/** A cyclic barrier as the server stores it. */
export interface BarrierFacts {
  /** How many parties have arrived in the current round. */
  readonly arrived: number
  /** How many parties the current round needs; null if no party has arrived. */
  readonly parties: number | null
  /**
   * The number of the current round: the server's time in µs when its first party arrived. It rises
   * with each round, but does not count the rounds. Null if no party has arrived.
   */
  readonly round: number | null
}
