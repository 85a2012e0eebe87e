import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Stores the frame of the running code. All clients share this storage. On Node.js 20, each storage
 * that was ever used slows down every promise.
 */
export const frameStorage = new AsyncLocalStorage<object>()

/**
 * Calls `fn` outside all frames. So listeners act for no owner, even if code in a frame calls them.
 */
export function outsideFrames<T>(fn: () => T): T {
  return frameStorage.getStore() === undefined ? fn() : frameStorage.run(NONE, fn)
}

// `undefined` is stored with a cast. `exit` would also leave all frames, but it turns the storage
// off and on again for all code.
const NONE = undefined as unknown as object
