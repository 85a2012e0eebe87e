import type { Clock } from '../../kit/clock.ts'
import { outsideFrames } from '../../kit/frame-storage.ts'

/**
 * Calls `work` in a later turn of the event loop, outside all frames. Several calls keep their
 * order.
 */
export function later(clock: Clock, work: () => void): void {
  outsideFrames(() => clock.nextTurn(work))
}
