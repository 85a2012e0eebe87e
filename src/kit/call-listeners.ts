import { outsideFrames } from './frame-storage.ts'

/**
 * Calls listeners outside all frames, so that they act for no owner. The error of a listener
 * becomes an uncaught exception and does not fail the caller.
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

interface Emitter {
  listenerCount(event: string): number
  emit(event: string, ...args: unknown[]): boolean
}

/** Returns a function that calls the listeners of the emitter, as {@link callListeners} does. */
export function emitBy(emitter: object): (event: string, ...args: unknown[]) => void {
  const one = emitter as Emitter
  return (event, ...args) => {
    if (one.listenerCount(event) > 0) callListeners(() => one.emit(event, ...args))
  }
}
