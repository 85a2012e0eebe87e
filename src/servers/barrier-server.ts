import type { ServerKind } from './server-kind.ts'
import type { Subscription } from './subscription.ts'

/**
 * One cyclic barrier on a server. Each call settles within its `callMs`. A failed call rejects with
 * a `CallFailure`.
 */
export interface RemoteBarrier {
  /** Counts an arrival. Another request with the same id renews the lease of the arrival. */
  arrive(arrival: Arrival, callMs: number): Promise<Arrived>
  /** Withdraws an arrival. Answers `passed` if all parties had already arrived. */
  withdraw(id: string, callMs: number): Promise<'left' | 'passed'>
  inspect(callMs: number): Promise<BarrierFacts>
  /**
   * Calls `onEnded` with the number of each round that ends. Calls `onEnded` without a number once
   * after the subscription begins, and when this client may have missed messages.
   */
  listen(onEnded: (round?: number) => void): Subscription
}

export interface Arrival {
  /** The id of this arrival. No other arrival has this id. */
  readonly id: string
  readonly parties: number
  readonly leaseMs: number
  /** The number of the round in which the arrival counts; '' for the current round. */
  readonly round: number | ''
  /** The ids of earlier arrivals. The server may forget their outcomes. */
  readonly answered: readonly string[]
}

export type Arrived =
  | { readonly kind: 'waiting'; readonly round: number }
  /** All parties had arrived. */
  | { readonly kind: 'passed' }
  /** The client withdrew the arrival, or its lease ended before all parties had arrived. */
  | { readonly kind: 'gone' }
  /** The current round needs a different number of parties. */
  | { readonly kind: 'other'; readonly parties: number }

/** A cyclic barrier as the server stores it. */
export interface BarrierFacts {
  /** How many parties have arrived in the current round. */
  readonly arrived: number
  /** How many parties the current round needs; null if no party has arrived. */
  readonly parties: number | null
  /**
   * The number of the current round: the server's time in µs at which its first party arrived. Each
   * round has a higher number than the round before. Null if no party has arrived.
   */
  readonly round: number | null
}

export const BARRIER: ServerKind<(rawName: string) => RemoteBarrier> = {
  name: 'barrier',
  what: 'a cyclic barrier',
}
