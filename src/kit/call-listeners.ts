import { outsideFrames } from './frame-storage.ts'

/**
 * Calls listeners outside all frames, so that they do not act for the owner of the running code. If
 * a listener throws, the error becomes an uncaught exception, and the caller continues.
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

type EventListener = (...args: unknown[]) => void

/** A listener, as eventemitter3 stores it. */
interface ListenerEntry {
  readonly fn: EventListener
  readonly context: unknown
  readonly once: boolean
}

interface Emitter {
  readonly _events?: Readonly<Record<string, ListenerEntry | readonly ListenerEntry[] | undefined>>
  listenerCount(event: string): number
  emit(event: string, ...args: unknown[]): boolean
  removeListener(event: string, fn: EventListener, context: unknown, once: boolean): unknown
}

/**
 * Returns a function that calls the listeners of the emitter, as {@link callListeners} does. If a
 * listener throws, the later listeners are still called. With `emit` of eventemitter3, they would
 * not be called.
 */
export function emitBy(emitter: object): (event: string, ...args: unknown[]) => void {
  const one = emitter as Emitter
  return (event, ...args) => {
    const count = one.listenerCount(event)
    if (count === 0) return
    const entries = one._events?.[event]
    if (count === 1 || !Array.isArray(entries)) {
      callListeners(() => one.emit(event, ...args))
      return
    }
    // The list is copied, because a listener may add other listeners. The added listeners are not
    // called for this event.
    for (const { fn, context, once } of [...(entries as ListenerEntry[])]) {
      if (once) one.removeListener(event, fn, undefined, true)
      callListeners(() => fn.apply(context, args))
    }
  }
}
