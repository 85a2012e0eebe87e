import type { Clock } from '../../kit/clock.ts'
import { LONGEST_TIMER_MS } from '../../kit/timers.ts'
import { type CallFailure, NoAnswer } from '../call-failure.ts'

/** The outcome of one call. The work of the call says what the server may have done. */
export interface CallOutcome {
  /**
   * Called before a request that changes the server. Throws if the time of the call has passed,
   * even if the event loop was blocked and the call has not failed yet.
   */
  beforeChange(): void
  /** Called when the server has answered that it changed nothing. */
  changedNothing(): void
}

/**
 * Limits the time of one call of a store whose server may be silent. When the time has passed, the
 * call fails, and its work sends no further change.
 *
 * @param callMs how long the call may take, in milliseconds
 * @returns rejects with the `CallFailure` `unknown` if the server may have changed something, and
 * with `unsent` otherwise
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
    // After a blocked event loop, the answer may have arrived and is not read yet. So the client
    // reads first.
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
