import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Calls `fn` outside the async context of the caller. Timers and connections live longer than the
 * caller that first needed them. They must not keep its context, such as a span of a trace, in
 * memory.
 */
export const outsideContexts: <T>(fn: () => T) => T = AsyncLocalStorage.snapshot()
