import { outsideFrames } from './frame-storage.ts'

/**
 * Calls listeners as if nobody had called them: what one throws fails by itself, and not who tells. They act for
 * nobody, in whosever frame there was something to tell.
 */
export function callListeners(call: () => void): void {
  try {
    outsideFrames(call)
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}
