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

interface Emitter {
  listenerCount(event: string): number
  emit(event: string, ...args: unknown[]): boolean
}

/** Tells the listeners of that emitter, where there are any, as if nobody had called them. */
export function emitBy(emitter: object): (event: string, ...args: unknown[]) => void {
  const one = emitter as Emitter
  return (event, ...args) => {
    if (one.listenerCount(event) > 0) callListeners(() => one.emit(event, ...args))
  }
}
