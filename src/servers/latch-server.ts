import type { LatchFacts } from './answers.ts'
import type { OnceRequest } from './once-request.ts'
import type { Subscription } from './subscription.ts'

/** One count-down latch at its place. Every call ends within its `callMs`, and rejects with a `CallFailure`. */
export interface RemoteLatch {
  /** Sets the count where there is none: whether this request did. */
  trySetCount(count: number, request: OnceRequest, callMs: number): Promise<boolean>
  /**
   * @param round the only round in which it counts; without one, that in which the request was made
   * @returns the latch right after it; null when that round is over, and nothing was counted
   */
  countDown(request: OnceRequest, callMs: number, round?: number): Promise<LatchState | null>
  /**
   * Deletes the count: whether there was one.
   *
   * @param round as of `countDown`
   */
  delete(request: OnceRequest, callMs: number, round?: number): Promise<boolean>
  look(callMs: number): Promise<LatchState>
  inspect(callMs: number): Promise<LatchFacts>
  /**
   * Calls `onWake` with each message, and without one when any may have been missed: so also once
   * after it has begun to listen.
   */
  listen(onWake: () => void): Subscription
}

/** A latch as one request finds it. */
export interface LatchState {
  /** What is left; 0 where it is open. */
  readonly count: number
  /** Another for each count that is set with Holdfast; null where it is not known. */
  readonly round: number | null
  /** When the count was set at the earliest, on the monotonic clock of the client; left out where it is not known. */
  readonly setAt?: number
}

export const OPEN: LatchState = { count: 0, round: null }
