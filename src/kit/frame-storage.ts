import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Stores the frame of the running code. All clients share this storage, because on Node.js 20 each
 * storage in use slows down every promise.
 */
export const frameStorage = new AsyncLocalStorage<object>()

/**
 * Calls `fn` outside all frames. So listeners act for no owner, even if code in a frame causes the
 * call.
 */
export function outsideFrames<T>(fn: () => T): T {
  return frameStorage.getStore() === undefined ? fn() : frameStorage.run(NONE, fn)
}

// `run` with `undefined` leaves all frames. `exit` would also do this, but it disables and enables
// the storage for all code.
const NONE = undefined as unknown as object
