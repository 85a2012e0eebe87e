import type { Clock } from '../../kit/clock.ts'
import { outsideFrames } from '../../kit/frame-storage.ts'

/**
 * Calls `work` in a later turn of the event loop. Several calls keep their order. `work` runs outside
 * all frames, so it acts for no owner.
 */
export function later(clock: Clock, work: () => void): void {
  outsideFrames(() => clock.nextTurn(work))
}
