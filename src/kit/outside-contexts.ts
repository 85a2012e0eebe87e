import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Calls `fn` in the async context in which this module was loaded. Timers and connections outlive
 * the caller that first needed them. So they must not keep that caller's async context, such as a
 * span of a trace, in memory, or run inside it.
 */
export const outsideContexts: <T>(fn: () => T) => T = AsyncLocalStorage.snapshot()
