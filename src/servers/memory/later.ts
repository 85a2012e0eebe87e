// Not the global one: fake timers of tests replace that, and a server has a clock of its own.
import { setImmediate } from 'node:timers'
import { outsideFrames } from '../../kit/frame-storage.ts'

/** Calls `work` in a later turn of the event loop, after what was to be called before, in no frame. */
export function later(work: () => void): void {
  outsideFrames(() => setImmediate(work))
}
