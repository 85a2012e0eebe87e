import { outsideFrames } from './frame-storage.ts'

/**
 * Calls listeners outside all frames. Otherwise locks that a listener acquires would belong to the
 * owner of the running code. If a listener throws, its error becomes an uncaught exception, and the
 * code after this call continues.
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
 * listener throws, the function still calls the later listeners. `emit` of eventemitter3 would not
 * call them.
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
    // The loop uses a copy, because a listener may add listeners to the list. For this event, the
    // added listeners are not called.
    for (const { fn, context, once } of [...(entries as ListenerEntry[])]) {
      if (once) one.removeListener(event, fn, undefined, true)
      callListeners(() => fn.apply(context, args))
    }
  }
}
