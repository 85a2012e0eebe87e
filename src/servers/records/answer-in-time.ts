import type { Clock } from '../../kit/clock.ts'
import { LONGEST_TIMER_MS } from '../../kit/timers.ts'
import { type CallFailure, NoAnswer } from '../call-failure.ts'

/** The work of one call reports to this object what the server may have changed. */
export interface CallOutcome {
  /**
   * Called before a request that changes the server. Throws if the time of the call has passed,
   * because the timer that fails the call may be late.
   */
  beforeChange(): void
  /** Called when the server has answered that it changed nothing. */
  changedNothing(): void
}

/**
 * Limits the time of one call, because the server may be silent. After this time the call fails,
 * and `work` sends no further change.
 *
 * @param callMs how long the call may take, in milliseconds
 * @returns rejects with the `CallFailure` `unknown` if the server may have changed something;
 * otherwise with `unsent`
 */
export function answerInTime<T>(
  clock: Clock,
  callMs: number,
  work: (outcome: CallOutcome) => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const untilMs = clock.monotonic() + callMs
    let failure: CallFailure | undefined
    let mayHaveChanged = false
    const giveUp = (): CallFailure => {
      const kind = mayHaveChanged ? 'unknown' : 'unsent'
      failure ??= new NoAnswer(kind, `no answer within ${Math.round(callMs)} ms`)
      reject(failure)
      return failure
    }
    // If the event loop was blocked, an unread answer may have arrived. So the client reads once
    // more before it gives up.
    const timer = clock.after(Math.min(callMs, LONGEST_TIMER_MS), () => clock.nextTurn(giveUp))
    const outcome: CallOutcome = {
      beforeChange() {
        if (failure !== undefined || clock.monotonic() >= untilMs) throw giveUp()
        mayHaveChanged = true
      },
      changedNothing() {
        mayHaveChanged = false
      },
    }
    work(outcome)
      .finally(() => clock.clear(timer))
      .then(resolve, reject)
  })
}
