import { systemClock, type Timer } from './clock.ts'
import { LONGEST_TIMER_MS } from './timers.ts'

/**
 * Waits until the work has ended, but for at most `ms` milliseconds. After this time the work
 * itself continues.
 */
export async function within(
  ms: number,
  work: Promise<unknown>,
  clock = systemClock,
): Promise<void> {
  let timer: Timer | undefined
  const timeUp = new Promise<void>((resolve) => {
    timer = clock.after(Math.min(ms, LONGEST_TIMER_MS), resolve)
  })
  try {
    await Promise.race([work, timeUp])
  } finally {
    clock.clear(timer)
  }
}
