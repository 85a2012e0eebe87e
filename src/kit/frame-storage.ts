import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Stores the frame of the running code. The frame decides which owner the code acts for. All clients
 * share one storage, because on Node.js 20 each storage in use makes every promise slower.
 */
export const frameStorage = new AsyncLocalStorage<object>()

/** Calls `fn` outside all frames. Listeners that `fn` calls then act for no owner. */
export function outsideFrames<T>(fn: () => T): T {
  return frameStorage.getStore() === undefined ? fn() : frameStorage.run(NONE, fn)
}

// `run` with `undefined` calls the function outside all frames. `exit` would do the same, but it
// turns the storage off and on for all code.
const NONE = undefined as unknown as object
