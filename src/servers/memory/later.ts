import type { Clock } from '../../kit/clock.ts'
import { outsideFrames } from '../../kit/frame-storage.ts'

/** Calls `work` outside all frames, in a later turn of the event loop and after earlier calls. */
export function later(clock: Clock, work: () => void): void {
  outsideFrames(() => clock.nextTurn(work))
}
