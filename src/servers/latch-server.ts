import type { LatchFacts } from './answers.ts'
import type { OnceRequest } from './once-request.ts'
import type { Subscription } from './subscription.ts'

/**
 * One count-down latch of a server. Every call ends within its `callMs`. A failed call rejects with
 * a `CallFailure`.
 */
export interface RemoteLatch {
  /** Sets the count if no count is set. Returns true if this request has set it. */
  trySetCount(count: number, request: OnceRequest, callMs: number): Promise<boolean>
  /**
   * Counts the latch down by one, in one round only.
   *
   * @param round the number of the round; by default the round at the time of the caller's call
   * @returns the state of the latch after the call; null if that round is over and nothing was
   * counted
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
   * Calls `onWake` at each message, and when messages may have been missed. So `onWake` is also
   * called once after the subscription begins.
   */
  listen(onWake: () => void): Subscription
}

export interface LatchState {
  /** The count; 0 if the latch is open. */
  readonly count: number
  /** The number of the round, which differs for each count that Holdfast sets; null if unknown. */
  readonly round: number | null
  /**
   * The earliest moment at which the count was set, on the monotonic clock of the client; left out
   * if unknown.
   */
  readonly setAt?: number
}

export const OPEN: LatchState = { count: 0, round: null }
