import { LONGEST_TIMER_MS } from '../kit/timers.ts'
import { assertNoMore, optionsOf, wholeMsNotZero } from './input.ts'

/** The options of `close`. */
export interface CloseOptions {
  /**
   * The longest wait until all locks are released, in milliseconds. Meanwhile the client acquires nothing new. Without
   * `drainMs`, all locks are released at once.
   */
  drainMs?: number
}

/**
 * Reads the arguments of `close`. Returns how long holders may keep their locks, in milliseconds; 0
 * means that all locks are released at once.
 */
export function drainMsOf(options: unknown, others: readonly unknown[]): number {
  assertNoMore(others)
  if (options === undefined) return 0
  const { drainMs } = optionsOf(options, 'The options of close()', ['drainMs']) as CloseOptions
  if (drainMs === undefined) return 0
  const instead = 'To release what is held at once, leave it out: close().'
  return wholeMsNotZero(drainMs, '`drainMs`', instead, LONGEST_TIMER_MS)
}
