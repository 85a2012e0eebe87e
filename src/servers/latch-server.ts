import type { LatchFacts } from './answers.ts'
import type { OnceRequest } from './once-request.ts'
import type { Subscription } from './subscription.ts'

/**
 * One count-down latch of a server. Every call ends within its `callMs`. A failed call rejects with
 * a `CallFailure`.
 */
export interface RemoteLatch {
  /** Sets the count if there is none. Returns true if this request has set it. */
  trySetCount(count: number, request: OnceRequest, callMs: number): Promise<boolean>
  /**
   * @param round the only round in which it counts; by default the round in which the request was
   * made
   * @returns the latch after the call; null if that round is over and nothing was counted
   */
  countDown(request: OnceRequest, callMs: number, round?: number): Promise<LatchState | null>
  /**
   * Deletes the count. Returns true if there was one.
   *
   * @param round as in `countDown`
   */
  delete(request: OnceRequest, callMs: number, round?: number): Promise<boolean>
  look(callMs: number): Promise<LatchState>
  inspect(callMs: number): Promise<LatchFacts>
  /**
   * Calls `onWake` at each message, and after a possible gap. So it is also called once after the
   * subscription begins.
   */
  listen(onWake: () => void): Subscription
}

export interface LatchState {
  /** The count; 0 if the latch is open. */
  readonly count: number
  /** Differs for each count that Holdfast sets; null if unknown. */
  readonly round: number | null
  /**
   * The earliest moment at which the count was set, on the monotonic clock of the client; left out
   * if unknown.
   */
  readonly setAt?: number
}

export const OPEN: LatchState = { count: 0, round: null }
