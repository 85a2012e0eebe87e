import { atLoad } from './at-load.ts'
import { Stalls } from './stalls.ts'

export interface TimeLimits {
  /**
   * The shortest time in milliseconds, which a timer of the code guarantees. The load of the machine does not change
   * this limit.
   */
  atLeast?: number
  /**
   * The longest time in milliseconds on a machine without load. The limit follows the load before or after the work.
   * The time in which this process stood still does not count.
   */
  atMost?: number
}

/**
 * Returns the result of the work. Fails if the work takes less or more time than the limits allow. Use it only in tests
 * about time. Other tests expect an order, a count, an event or a state.
 */
export async function takes<T>(
  { atLeast = 0, atMost = Infinity }: TimeLimits,
  work: Promise<T> | (() => Promise<T>),
): Promise<T> {
  const mostBefore = atLoad(atMost)
  const stalls = new Stalls()
  const start = performance.now()
  const pending = typeof work === 'function' ? work() : work
  await Promise.allSettled([pending])
  const tookMs = performance.now() - start
  const stalledMs = stalls.ms
  stalls.stop()
  const most = Math.max(mostBefore, atLoad(atMost))
  if (tookMs < atLeast)
    throw new Error(`It took ${tookMs} ms, and at least ${atLeast} ms are promised`)
  if (tookMs > most + stalledMs)
    throw new Error(`It took ${tookMs} ms, and at most ${most} ms are promised`)
  return pending
}
