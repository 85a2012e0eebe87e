import { LONGEST_TIMER_MS } from './timers.ts'

/** Waits for the work, but no longer than this; the work goes on. */
export async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const timeUp = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(ms, LONGEST_TIMER_MS))
  })
  try {
    await Promise.race([work, timeUp])
  } finally {
    clearTimeout(timer)
  }
}
