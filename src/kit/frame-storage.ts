import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Which frame the running code is in. One for all clients: on Node 20 each that was ever used costs
 * every promise a little, for good.
 */
export const frameStorage = new AsyncLocalStorage<object>()

/** Calls `fn` in no frame, for listeners: in whosever frame they are called, they act for nobody. */
export function outsideFrames<T>(fn: () => T): T {
  return frameStorage.getStore() === undefined ? fn() : frameStorage.run(NONE, fn)
}

// Typed so, since `exit` would turn the storage off and on again, for all code.
const NONE = undefined as unknown as object
