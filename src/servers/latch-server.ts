import type { LatchFacts } from './answers.ts'
import type { OnceRequest } from './once-request.ts'
import type { Subscription } from './subscription.ts'

/** One count-down latch at its place. Every call ends within its `callMs`, and rejects with a `CallFailure`. */
export interface RemoteLatch {
  /** Sets the count where there is none: whether this request did. */
  trySetCount(count: number, request: OnceRequest, callMs: number): Promise<boolean>
  /** @returns what was left after it; 0 where there was nothing to be counted */
  countDown(request: OnceRequest, callMs: number): Promise<number>
  /** Deletes the count: whether there was one. */
  delete(request: OnceRequest, callMs: number): Promise<boolean>
  look(callMs: number): Promise<LatchState>
  inspect(callMs: number): Promise<LatchFacts>
  /**
   * Calls `onWake` with each message, and without one when any may have been missed: so also once
   * after it has begun to listen.
   */
  listen(onWake: () => void): Subscription
}

/** A latch as one look finds it. */
export interface LatchState {
  /** What is left; 0 where it is open. */
  readonly count: number
  /** Another for each count that is set with Holdfast; null where it is not known. */
  readonly round: string | null
}
