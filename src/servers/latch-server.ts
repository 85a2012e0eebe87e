import type { LatchFacts } from './facts.ts'
import type { OnceRequest } from './once-request.ts'
import type { ServerKind } from './server-kind.ts'
import type { Subscription } from './subscription.ts'

/**
 * One count-down latch on a server. Each call settles within its `callMs`. A failed call rejects
 * with a `CallFailure`.
 */
export interface RemoteLatch {
  /**
   * Sets the count if the latch has no count. Returns true if this request, or an earlier copy, has
   * set the count.
   */
  trySetCount(count: number, request: OnceRequest, callMs: number): Promise<boolean>
  /**
   * Lowers the count of one round by one.
   *
   * @param round the id of the round; by default the current round when the caller made the call
   * @returns the state of the latch after the call; null if the round is over
   */
  countDown(request: OnceRequest, callMs: number, round?: number): Promise<LatchState | null>
  /**
   * Deletes the count. Returns true if this request, or an earlier copy, has deleted a count.
   *
   * @param round as in `countDown`
   */
  delete(request: OnceRequest, callMs: number, round?: number): Promise<boolean>
  read(callMs: number): Promise<LatchState>
  inspect(callMs: number): Promise<LatchFacts>
  /**
   * Calls `onWake` at each message, and when this client may have missed messages. Also calls
   * `onWake` once after the subscription begins.
   */
  listen(onWake: () => void): Subscription
}

export interface LatchState {
  /** The count; 0 if the latch is open. */
  readonly count: number
  /**
   * The id of the round. Holdfast gives each round a new id. Null if the latch is open, or if the
   * server stores no id. Redisson stores none.
   */
  readonly round: number | null
  /**
   * The count was set at this time or later, in milliseconds on the client's monotonic clock.
   * Undefined if the time is unknown.
   */
  readonly setAt?: number
}

export const OPEN: LatchState = { count: 0, round: null }

export const LATCH: ServerKind<(rawName: string) => RemoteLatch> = {
  name: 'latch',
  what: 'a latch',
}
