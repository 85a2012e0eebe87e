import { LONGEST_TIMER_MS } from '../kit/timers.ts'
import { assertNoMore, wholeMs } from './input.ts'
import { or, shape } from './shape.ts'

/** The options of `close`. */
export interface CloseOptions {
  /**
   * The longest wait until all locks are released, in milliseconds. Meanwhile the client acquires nothing new. Without
   * `drainMs`, the client releases all locks at once.
   */
  drainMs?: number
}

const AT_ONCE = 'To release what is held at once, leave it out: close().'

const readCloseOptions = shape('The options of close()', {
  drainMs: or((value, what) => wholeMs(value, what, LONGEST_TIMER_MS, AT_ONCE), 0),
})

/**
 * Reads the arguments of `close`. Returns how long holders may keep their locks, in milliseconds; 0
 * means that all locks are released at once.
 */
export function drainMsOf(options: unknown = {}, others: readonly unknown[]): number {
  assertNoMore(others)
  return readCloseOptions(options).drainMs
}
