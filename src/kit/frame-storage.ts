import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * The frame of the running code. All clients share this storage: on Node.js 20, each storage that
 * was ever used slows down every promise.
 */
export const frameStorage = new AsyncLocalStorage<object>()

/** Calls `fn` outside all frames: listeners act for no owner, whichever code calls them. */
export function outsideFrames<T>(fn: () => T): T {
  return frameStorage.getStore() === undefined ? fn() : frameStorage.run(NONE, fn)
}

// Typed this way, because `exit` would turn the storage off and on again for all code.
const NONE = undefined as unknown as object
