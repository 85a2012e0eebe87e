import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Calls `fn` in the async context that this module was loaded in: for timers and connections that outlive whoever was
 * the first to need them. What a caller binds to its request, a span or a transaction, is not theirs, nor to be kept in
 * memory by them.
 */
export const outsideContexts: <T>(fn: () => T) => T = AsyncLocalStorage.snapshot()
